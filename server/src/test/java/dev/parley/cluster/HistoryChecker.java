package dev.parley.cluster;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Compares what clients of a log have seen with the log at the end. It knows nothing about how the
/// clients reached the log, so that all campaigns can use it.
///
/// The facts are in the order of time. Each append has contents that no other append has.
public final class HistoryChecker {

  private static final int REPORTED_MAX = 20;

  private final List<HistoryFact> facts;
  private final FinalLog end;
  private final List<String> violations = new ArrayList<>();
  // What is at each position of each context, as far as a client or the final log has said so.
  private final Map<String, TreeMap<Position, String>> known = new HashMap<>();

  /// An entry as a reader sees it.
  public record SeenEntry(Position position, String content) {}

  /// What a client knows.
  public sealed interface HistoryFact {
    String context();
  }

  /// A client begins an append. Its outcome stays unknown unless another fact tells it.
  public record AppendBegun(String context, List<String> contents) implements HistoryFact {}

  /// An append was acknowledged. It began at fact number `begun`. `guard` is the head that it
  /// required; `key` its idempotency key.
  public record AppendDone(
      String context,
      long begun,
      List<String> contents,
      Position first,
      Position last,
      @Nullable Position guard,
      @Nullable String key)
      implements HistoryFact {}

  /// An append was rejected, and its events must not exist.
  public record AppendRejected(String context, List<String> contents) implements HistoryFact {}

  /// A reader that continued after `after` got these entries.
  public record EntriesRead(String context, String reader, Position after, List<SeenEntry> entries)
      implements HistoryFact {}

  /// The creation of a context was acknowledged.
  public record ContextMade(String context) implements HistoryFact {}

  /// A fork was acknowledged.
  public record ForkMade(String context, String source, long atSeq) implements HistoryFact {}

  /// The deletion of a context was acknowledged.
  public record ContextDropped(String context) implements HistoryFact {}

  /// The log after all faults: the entries of each context, and the deleted contexts.
  public record FinalLog(Map<String, List<SeenEntry>> contexts, Set<String> deleted) {}

  private HistoryChecker(List<HistoryFact> facts, FinalLog end) {
    this.facts = facts;
    this.end = end;
  }

  /// Returns the violations; empty if there are none.
  public static List<String> check(List<HistoryFact> facts, FinalLog end) {
    return new HistoryChecker(facts, end).check();
  }

  private List<String> check() {
    end.contexts().forEach(this::checkFinal);
    for (var index = 0; index < facts.size(); index++) {
      check(index, facts.get(index));
    }
    checkOrder();
    checkKeys();
    checkForks();
    return List.copyOf(violations);
  }

  private void report(String violation) {
    if (violations.size() < REPORTED_MAX) {
      violations.add(violation);
    }
  }

  /// Numbers are dense, and no event exists twice.
  private void checkFinal(String context, List<SeenEntry> entries) {
    var before = Position.START;
    var contents = new HashMap<String, Position>();
    for (var entry : entries) {
      var position = entry.position();
      if (!position.equals(before.nextPublic()) && !position.equals(before.nextInternal())) {
        report("%s: %s follows %s".formatted(context, position, before));
      }
      before = position;
      var earlier = contents.put(entry.content(), position);
      if (earlier != null) {
        report(
            "%s: '%s' is at %s and at %s".formatted(context, entry.content(), earlier, position));
      }
      known.computeIfAbsent(context, _ -> new TreeMap<>()).put(position, entry.content());
    }
  }

  /// Records what is at a position. It must be there for ever.
  private void claim(String context, Position position, String content, String source) {
    var earlier =
        known.computeIfAbsent(context, _ -> new TreeMap<>()).putIfAbsent(position, content);
    if (earlier != null && !earlier.equals(content)) {
      report(
          "%s: %s is '%s', but %s has '%s'".formatted(context, position, earlier, source, content));
    } else if (earlier == null && end.contexts().containsKey(context)) {
      report("%s: '%s' at %s is lost; %s has it".formatted(context, content, position, source));
    }
  }

  private void check(int index, HistoryFact fact) {
    var context = fact.context();
    switch (fact) {
      case AppendBegun _ -> {}
      case AppendDone done -> {
        mustExist(context);
        checkAppend(done);
      }
      case AppendRejected(_, var contents) ->
          end.contexts().getOrDefault(context, List.of()).stream()
              .filter(entry -> contents.contains(entry.content()))
              .forEach(
                  entry ->
                      report(
                          "%s: '%s' was rejected, but is at %s"
                              .formatted(context, entry.content(), entry.position())));
      case EntriesRead read -> {
        mustExist(context);
        checkRead(index, read);
      }
      case ContextMade _, ForkMade _ -> mustExist(context);
      case ContextDropped _ -> {
        if (!end.deleted().contains(context)) {
          report("%s: was deleted, but exists".formatted(context));
        }
      }
    }
  }

  private void mustExist(String context) {
    if (!end.contexts().containsKey(context) && !end.deleted().contains(context)) {
      report("%s: is lost".formatted(context));
    }
  }

  private void checkAppend(AppendDone done) {
    var position = done.first();
    for (var content : done.contents()) {
      claim(done.context(), position, content, "an acknowledged append");
      if (!content.equals(done.contents().getLast())) {
        position = position.nextPublic();
      }
    }
    if (!position.equals(done.last())) {
      report("%s: %s ends at %s".formatted(done.context(), done.contents(), done.last()));
    }
    var guard = done.guard();
    if (guard != null && !done.first().equals(guard.nextPublic())) {
      report("%s: %s was appended after %s".formatted(done.context(), done.contents(), guard));
    }
  }

  /// A reader sees a slice of the final log, without gaps.
  private void checkRead(int index, EntriesRead read) {
    var before = read.after();
    for (var entry : read.entries()) {
      var position = entry.position();
      if (!position.equals(before.nextPublic()) && !position.equals(before.nextInternal())) {
        report(
            "%s: reader %s got %s after %s"
                .formatted(read.context(), read.reader(), position, before));
      }
      before = position;
      claim(read.context(), position, entry.content(), "fact " + index + ", a reader,");
    }
  }

  /// An append follows everything that was acknowledged before it began.
  private void checkOrder() {
    var acknowledged = new HashMap<String, TreeMap<Long, Position>>();
    for (var index = 0; index < facts.size(); index++) {
      if (facts.get(index) instanceof AppendDone done) {
        var earlier = acknowledged.computeIfAbsent(done.context(), _ -> new TreeMap<>());
        var before = earlier.lowerEntry(done.begun());
        if (before != null && !done.first().after(before.getValue())) {
          report(
              "%s: %s at %s began after %s was acknowledged"
                  .formatted(done.context(), done.contents(), done.first(), before.getValue()));
        }
        var last = earlier.isEmpty() ? Position.START : earlier.lastEntry().getValue();
        earlier.put((long) index, done.last().after(last) ? done.last() : last);
      }
    }
  }

  /// A key has one result.
  private void checkKeys() {
    var results = new HashMap<List<String>, AppendDone>();
    for (var fact : facts) {
      if (fact instanceof AppendDone done && done.key() != null) {
        var earlier = results.putIfAbsent(List.of(done.context(), done.key()), done);
        if (earlier != null
            && !(earlier.first().equals(done.first()) && earlier.last().equals(done.last()))) {
          report(
              "%s: key %s has the results %s and %s"
                  .formatted(done.context(), done.key(), earlier.first(), done.first()));
        }
      }
    }
  }

  /// A fork begins with what its source has.
  private void checkForks() {
    for (var fact : facts) {
      if (fact instanceof ForkMade(var context, var source, var atSeq)) {
        var fork = known.getOrDefault(context, new TreeMap<>());
        known
            .getOrDefault(source, new TreeMap<>())
            .headMap(new Position(atSeq, Integer.MAX_VALUE), true)
            .forEach(
                (position, content) -> {
                  var shared = fork.get(position);
                  if (end.contexts().containsKey(context) && !content.equals(shared)) {
                    report(
                        "%s: %s is '%s', not '%s'".formatted(context, position, shared, content));
                  }
                });
      }
    }
  }
}
