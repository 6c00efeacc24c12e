package dev.parley.cluster;

import dev.parley.cluster.HistoryChecker.AppendBegun;
import dev.parley.cluster.HistoryChecker.AppendDone;
import dev.parley.cluster.HistoryChecker.AppendRejected;
import dev.parley.cluster.HistoryChecker.ContextDropped;
import dev.parley.cluster.HistoryChecker.ContextMade;
import dev.parley.cluster.HistoryChecker.EntriesRead;
import dev.parley.cluster.HistoryChecker.ForkMade;
import dev.parley.cluster.HistoryChecker.HistoryFact;
import dev.parley.cluster.HistoryChecker.SeenEntry;
import dev.parley.cluster.SimulationPlan.Append;
import dev.parley.cluster.SimulationPlan.ClientRequest;
import dev.parley.cluster.SimulationPlan.CreateContext;
import dev.parley.cluster.SimulationPlan.Delete;
import dev.parley.cluster.SimulationPlan.Fork;
import dev.parley.cluster.SimulationPlan.Tail;
import dev.parley.log.AppendGuard;
import dev.parley.log.BlockLog;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.SimulationScheduler.SimulatedProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The clients of a simulated cluster: they send requests to whatever node believes to be active,
/// and record what they learn.
final class SimulatedClients {

  static final Duration PAUSE = Duration.ofMillis(200);

  private static final Duration REQUEST_MAX = Duration.ofSeconds(10);
  private static final Duration RETRIES_MAX = Duration.ofSeconds(40);
  private static final Duration AWAIT = Duration.ofSeconds(1);
  private static final int PAGE = 3;

  private final SimulatedProcess process;
  private final Random random;
  private final SimulatedNode[] nodes;
  private final List<HistoryFact> facts = new ArrayList<>();
  private int open;
  private boolean ending;
  private @Nullable Rejection damage;

  /// `nodes` is filled and changed by the caller.
  SimulatedClients(SimulatedProcess process, Random random, SimulatedNode[] nodes) {
    this.process = process;
    this.random = random;
    this.nodes = nodes;
  }

  /// What the clients have learned so far, in the order of time.
  List<HistoryFact> facts() {
    return facts;
  }

  /// The answer that a context is damaged, which no client must get.
  @Nullable Rejection damage() {
    return damage;
  }

  /// Readers end, and contexts that do not exist are not waited for any more.
  void end() {
    ending = true;
  }

  /// True while there are requests, or nodes work on requests that their clients have given up.
  boolean busy() {
    return open > 0 || Stream.of(nodes).anyMatch(SimulatedNode::busy);
  }

  /// Runs a request to its end.
  void run(ClientRequest request) {
    open++;
    try {
      switch (request) {
        case CreateContext(var context) -> create(context);
        case Append append -> append(append);
        case Fork(var source, var fork) -> fork(source, fork);
        case Delete(var context) -> delete(context);
        case Tail(var context, var reader) -> tail(context, reader);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      open--;
    }
  }

  /// The name of a context.
  static String name(int context) {
    return "context-" + context;
  }

  static ContextId id(int context) {
    return new ContextId(name(context));
  }

  /// A node that believes to be active; null if there is none for a while.
  @Nullable SimulatedNode activeNode() throws InterruptedException {
    var deadline = process.time().deadline(REQUEST_MAX);
    while (process.time().remaining(deadline) > 0) {
      var active = new ArrayList<SimulatedNode>();
      for (var node : nodes) {
        if (node.log() != null && !node.process().killed()) {
          active.add(node);
        }
      }
      if (!active.isEmpty()) {
        return active.get(random.nextInt(active.size()));
      }
      process.time().sleep(PAUSE);
    }
    return null;
  }

  enum Outcome {
    /// The request was not sent, or there was no reply, or the reply does not tell.
    UNKNOWN,
    DONE,
    NOT_FOUND,
    GONE,
    REJECTED
  }

  interface LogCall {
    void run(BlockLog log) throws InterruptedException;
  }

  /// Sends a request to a node.
  Outcome call(LogCall call) throws InterruptedException {
    var node = activeNode();
    var outcome = new Outcome[] {Outcome.UNKNOWN};
    if (node != null) {
      node.call(
          process,
          REQUEST_MAX,
          log -> {
            try {
              call.run(log);
              outcome[0] = Outcome.DONE;
            } catch (Rejection.NotFound absent) {
              outcome[0] = Outcome.NOT_FOUND;
            } catch (Rejection.Gone deleted) {
              outcome[0] = Outcome.GONE;
            } catch (Rejection.Unavailable unknown) {
              outcome[0] = Outcome.UNKNOWN;
            } catch (Rejection.Damaged damaged) {
              damage = damaged;
            } catch (Rejection rejected) {
              outcome[0] = Outcome.REJECTED;
            }
          });
    }
    return outcome[0];
  }

  private void create(int context) throws InterruptedException {
    var deadline = process.time().deadline(RETRIES_MAX);
    while (process.time().remaining(deadline) > 0) {
      var outcome =
          call(
              log -> {
                log.create(id(context), new ContextCreated("local", null, null));
                facts.add(new ContextMade(name(context)));
              });
      if (outcome != Outcome.UNKNOWN) {
        return;
      }
      process.time().sleep(PAUSE);
    }
  }

  private void append(Append append) throws InterruptedException {
    var contents =
        IntStream.range(0, append.events()).mapToObj(i -> append.id() + "-" + i).toList();
    if (append.keyed()) {
      appendWithKey(append.context(), contents, RETRIES_MAX);
    } else if (append.guarded()) {
      appendAtHead(append.context(), contents);
    } else {
      begin(append.context(), contents);
      var begun = facts.size();
      var outcome = call(log -> append(log, append.context(), contents, begun, AppendGuard.none()));
      ended(append.context(), contents, outcome);
    }
  }

  private void begin(int context, List<String> contents) {
    facts.add(new AppendBegun(name(context), contents));
  }

  private void ended(int context, List<String> contents, Outcome outcome) {
    if (outcome != Outcome.DONE && outcome != Outcome.UNKNOWN) {
      facts.add(new AppendRejected(name(context), contents));
    }
  }

  /// Repeats an append until it is acknowledged or rejected. True if the context can be written.
  boolean appendWithKey(int context, List<String> contents, Duration patience)
      throws InterruptedException {
    begin(context, contents);
    var begun = facts.size();
    var key = contents.getFirst();
    var guard = new AppendGuard.IdempotencyKey("local", key, key);
    var deadline = process.time().deadline(patience);
    while (process.time().remaining(deadline) > 0) {
      switch (call(log -> append(log, context, contents, begun, guard))) {
        case DONE -> {
          return true;
        }
        case GONE, REJECTED -> {
          return true;
        }
        case UNKNOWN -> {}
        case NOT_FOUND -> {
          if (ending) {
            return true;
          }
        }
      }
      process.time().sleep(PAUSE);
    }
    return false;
  }

  private void appendAtHead(int context, List<String> contents) throws InterruptedException {
    var heads = new ArrayList<Position>();
    var _ = call(log -> heads.add(log.head(id(context))));
    if (!heads.isEmpty()) {
      begin(context, contents);
      var begun = facts.size();
      var guard = new AppendGuard.ExpectedHead(heads.getFirst());
      ended(context, contents, call(log -> append(log, context, contents, begun, guard)));
    }
  }

  private void append(
      BlockLog log, int context, List<String> contents, long begun, AppendGuard guard) {
    var drafts = contents.stream().map(SimulatedClients::message).toArray(EventDraft[]::new);
    var result = log.append(id(context), guard, Decision.always(drafts));
    facts.add(
        new AppendDone(
            name(context),
            begun,
            contents,
            result.first(),
            result.last(),
            guard instanceof AppendGuard.ExpectedHead(var head) ? head : null,
            guard instanceof AppendGuard.IdempotencyKey key ? key.key() : null));
  }

  /// An event with this content.
  static EventDraft message(String content) {
    return EventDraft.of(
        new Message(new MessageId("m-" + content), Role.USER, content, null, null));
  }

  private void fork(int source, int fork) throws InterruptedException {
    var seq = new long[1];
    var begun = process.time().deadline(REQUEST_MAX);
    while (process.time().remaining(begun) > 0) {
      var outcome =
          call(
              log -> {
                if (seq[0] == 0) {
                  var head = log.head(id(source)).seq();
                  seq[0] = 1 + random.nextLong(head);
                }
                var made =
                    log.fork(
                        id(fork), new ContextForked(id(source), seq[0], null, null), List.of());
                if (made) {
                  facts.add(new ForkMade(name(fork), name(source), seq[0]));
                }
                facts.add(new ContextMade(name(fork)));
              });
      if (outcome != Outcome.UNKNOWN) {
        return;
      }
      process.time().sleep(PAUSE);
    }
  }

  private void delete(int context) throws InterruptedException {
    var deadline = process.time().deadline(RETRIES_MAX);
    while (process.time().remaining(deadline) > 0) {
      var outcome =
          call(
              log -> {
                log.delete(id(context));
                facts.add(new ContextDropped(name(context)));
              });
      if (outcome != Outcome.UNKNOWN) {
        return;
      }
      process.time().sleep(PAUSE);
    }
  }

  /// Follows a context from its first entry, on whatever node is active.
  private void tail(int context, int reader) throws InterruptedException {
    var after = Position.START;
    while (!ending) {
      var from = after;
      // A request that was given up may still be answered, so each one has a result of its own.
      var read = new ArrayList<SeenEntry>();
      var outcome =
          call(
              log -> {
                if (log.await(id(context), from, AWAIT)) {
                  var entries = seen(log.read(id(context), from, PAGE));
                  facts.add(new EntriesRead(name(context), "r" + reader, from, entries));
                  read.addAll(entries);
                }
              });
      if (outcome == Outcome.DONE && !read.isEmpty()) {
        after = read.getLast().position();
      }
      if (outcome == Outcome.GONE) {
        return;
      }
      if (outcome != Outcome.DONE) {
        process.time().sleep(PAUSE);
      }
    }
  }

  /// What a reader of these entries sees.
  static List<SeenEntry> seen(List<Entry> entries) {
    return entries.stream()
        .map(
            entry ->
                new SeenEntry(
                    entry.position(),
                    entry.event() instanceof Message message
                        ? message.content()
                        : entry.event().toString()))
        .toList();
  }
}
