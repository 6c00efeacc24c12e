package dev.parley.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cluster.HistoryChecker.AppendDone;
import dev.parley.cluster.HistoryChecker.AppendRejected;
import dev.parley.cluster.HistoryChecker.ContextDropped;
import dev.parley.cluster.HistoryChecker.ContextMade;
import dev.parley.cluster.HistoryChecker.EntriesRead;
import dev.parley.cluster.HistoryChecker.FinalLog;
import dev.parley.cluster.HistoryChecker.ForkMade;
import dev.parley.cluster.HistoryChecker.HistoryFact;
import dev.parley.cluster.HistoryChecker.SeenEntry;
import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class HistoryCheckerTest {

  private static final List<SeenEntry> ABC = entries("a", "b", "c");

  private static List<SeenEntry> entries(String... contents) {
    var entries = new ArrayList<SeenEntry>();
    for (var content : contents) {
      entries.add(new SeenEntry(Position.of(entries.size() + 1L), content));
    }
    return entries;
  }

  private static AppendDone done(String content, long seq) {
    return done(content, seq, 0, null, null);
  }

  private static AppendDone done(
      String content, long seq, long begun, @Nullable Position guard, @Nullable String key) {
    var position = Position.of(seq);
    return new AppendDone("x", begun, List.of(content), position, position, guard, key);
  }

  private static EntriesRead read(long after, SeenEntry... entries) {
    return new EntriesRead("x", "r", Position.of(after), List.of(entries));
  }

  private static List<String> check(List<SeenEntry> end, HistoryFact... facts) {
    return HistoryChecker.check(List.of(facts), new FinalLog(Map.of("x", end), Set.of()));
  }

  @Test
  void a_history_that_agrees_with_the_log_has_no_violations() {
    assertThat(
            check(
                ABC,
                new ContextMade("x"),
                done("a", 1),
                read(0, ABC.get(0), ABC.get(1)),
                done("b", 2, 0, Position.of(1), null),
                done("c", 3, 3, null, "k"),
                done("c", 3, 3, null, "k"),
                new AppendRejected("x", List.of("d"))))
        .isEmpty();
  }

  @Test
  void an_acknowledged_append_must_be_at_its_position() {
    assertThat(check(ABC, done("d", 4))).singleElement().asString().contains("is lost");
    assertThat(check(ABC, done("b", 1))).isNotEmpty();
  }

  @Test
  void a_rejected_append_must_not_exist() {
    assertThat(check(ABC, new AppendRejected("x", List.of("b"))))
        .singleElement()
        .asString()
        .contains("was rejected");
  }

  @Test
  void numbers_are_dense_and_nothing_exists_twice() {
    var gap = List.of(ABC.get(0), ABC.get(2));
    assertThat(check(gap)).singleElement().asString().contains("3 follows 1");
    assertThat(check(entries("a", "b", "a"))).singleElement().asString().contains("and at");
  }

  @Test
  void a_reader_sees_a_slice_of_the_log() {
    assertThat(check(ABC, read(0, ABC.get(0), ABC.get(2)))).isNotEmpty();
    assertThat(check(ABC, read(1, ABC.get(2)))).isNotEmpty();
    assertThat(check(ABC, read(1, ABC.get(1), ABC.get(1)))).isNotEmpty();
    assertThat(check(ABC, read(2, new SeenEntry(Position.of(3), "other")))).isNotEmpty();
    assertThat(check(ABC, read(3, new SeenEntry(Position.of(4), "d")))).isNotEmpty();
  }

  @Test
  void readers_of_a_deleted_context_agree() {
    var facts =
        List.<HistoryFact>of(read(0, ABC.get(0)), read(0, new SeenEntry(Position.of(1), "other")));

    assertThat(HistoryChecker.check(facts, new FinalLog(Map.of(), Set.of("x")))).isNotEmpty();
  }

  @Test
  void an_append_follows_what_was_acknowledged_before_it_began() {
    assertThat(check(ABC, done("b", 2), done("a", 1, 1, null, null)))
        .singleElement()
        .asString()
        .contains("began after");
    assertThat(check(ABC, done("b", 2), done("a", 1, 0, null, null))).isEmpty();
  }

  @Test
  void a_guard_and_a_key_have_one_result() {
    assertThat(check(ABC, done("c", 3, 0, Position.of(1), null))).isNotEmpty();
    assertThat(check(ABC, done("a", 1, 0, null, "k"), done("b", 2, 0, null, "k"))).isNotEmpty();
  }

  @Test
  void a_deleted_context_does_not_come_back_and_others_do_not_vanish() {
    assertThat(check(ABC, new ContextDropped("x"))).isNotEmpty();
    var facts = List.<HistoryFact>of(new ContextMade("x"));
    assertThat(HistoryChecker.check(facts, new FinalLog(Map.of(), Set.of())))
        .singleElement()
        .asString()
        .contains("is lost");
    assertThat(HistoryChecker.check(facts, new FinalLog(Map.of(), Set.of("x")))).isEmpty();
  }

  @Test
  void a_fork_begins_with_what_its_source_has() {
    var facts = List.<HistoryFact>of(new ForkMade("fork", "x", 2));
    var good = new FinalLog(Map.of("x", ABC, "fork", entries("a", "b", "d")), Set.of());
    var bad = new FinalLog(Map.of("x", ABC, "fork", entries("a", "other")), Set.of());

    assertThat(HistoryChecker.check(facts, good)).isEmpty();
    assertThat(HistoryChecker.check(facts, bad)).isNotEmpty();
  }
}
