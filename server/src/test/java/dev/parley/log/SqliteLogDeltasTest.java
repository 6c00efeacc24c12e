package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.TASK;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.taskCreated;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.InternalRaw;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Deltas, which the log keeps in columns, in memory and in segments.
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class SqliteLogDeltasTest {

  private static final List<String> TEXTS =
      List.of("a", "word ", "ä", "漢字", "😀", "\ud83d", "\ude00 tail", "\n", "long ".repeat(50));

  @TempDir Path folder;

  private final Random random = new Random(17);

  /// Blocks alternate, indexes have gaps, and other events are in between.
  private List<EventDraft> drafts(int count) {
    var drafts = new ArrayList<EventDraft>();
    for (var i = 0; i < count; i++) {
      if (random.nextInt(20) == 0) {
        drafts.add(message("between"));
      }
      var block = new BlockId("block-" + (random.nextInt(10) == 0 ? 1 : 2));
      var index = random.nextInt(10) == 0 ? random.nextInt(1_000) : i;
      var text = TEXTS.get(random.nextInt(TEXTS.size()));
      drafts.add(new EventDraft(TASK, new ContentDelta(text, index, block)));
    }
    return drafts;
  }

  private static List<Entry> readAll(EventLog log, int limit) {
    var all = new ArrayList<Entry>();
    var position = Position.START;
    while (log.head(CONTEXT).after(position)) {
      var page = log.read(CONTEXT, position, limit);
      assertThat(page).hasSizeBetween(1, limit);
      all.addAll(page);
      position = page.getLast().position();
    }
    return all;
  }

  private static void assertEachPartIsRead(EventLog log, List<Entry> all) {
    for (var limit : List.of(1, 3, 7, 50, 10_000)) {
      assertThat(readAll(log, limit)).isEqualTo(all);
    }
    for (var i = 0; i < all.size(); i++) {
      assertThat(log.read(CONTEXT, all.get(i).position(), 5))
          .isEqualTo(all.subList(i + 1, Math.min(all.size(), i + 6)));
    }
  }

  @Test
  void deltas_are_read_as_they_were_appended_from_memory_from_segments_and_after_a_start() {
    var appended = new ArrayList<EventDraft>();
    List<Entry> read;
    try (var log = SqliteLog.open(TestLogs.in(folder))) {
      log.create(CONTEXT, created());
      log.append(CONTEXT, AppendGuard.none(), Decision.always(taskCreated()));
      while (appended.size() < 200) {
        var drafts = drafts(1 + random.nextInt(4));
        log.append(CONTEXT, AppendGuard.none(), _ -> drafts);
        appended.addAll(drafts);
      }
      read = readAll(log, 10_000);
      assertThat(read.stream().skip(2).map(Entry::event))
          .isEqualTo(appended.stream().map(EventDraft::event).toList());
      assertEachPartIsRead(log, read);
    }
    try (var log = SqliteLog.open(TestLogs.in(folder))) {
      assertEachPartIsRead(log, read);
      var more = drafts(700);
      log.append(CONTEXT, AppendGuard.none(), _ -> more);
      // Seals what is above.
      log.append(CONTEXT, AppendGuard.none(), Decision.always(message("last")));
      assertThat(log.unsealedBytes()).isLessThan(10_000);
      var all = readAll(log, 10_000);
      assertThat(all.subList(0, read.size())).isEqualTo(read);
      assertThat(all.stream().skip(2 + appended.size()).limit(more.size()).map(Entry::event))
          .isEqualTo(more.stream().map(EventDraft::event).toList());
      assertEachPartIsRead(log, all);
    }
  }

  @Test
  void a_block_that_arrives_in_many_appends_is_read_as_it_was_appended() {
    try (var log = SqliteLog.open(TestLogs.in(folder))) {
      log.create(CONTEXT, created());
      log.append(CONTEXT, AppendGuard.none(), Decision.always(taskCreated()));
      var appended = new ArrayList<ContentDelta>();
      while (appended.size() < 3_000) {
        var drafts = new ArrayList<EventDraft>();
        for (var left = 1 + random.nextInt(5); left > 0; left--) {
          var text = TEXTS.get(random.nextInt(TEXTS.size())).repeat(1 + random.nextInt(9));
          var delta = new ContentDelta(text, appended.size(), new BlockId("block"));
          appended.add(delta);
          drafts.add(new EventDraft(TASK, delta));
        }
        log.append(CONTEXT, AppendGuard.none(), _ -> drafts);
      }
      var all = readAll(log, 100);
      assertThat(all.stream().skip(2).map(Entry::event)).isEqualTo(appended);
      assertEachPartIsRead(log, all);
    }
  }

  /// The limits of memory count the weight of a run, not the room in its columns.
  @ParameterizedTest
  @ValueSource(ints = {4, 100, 5_000})
  void deltas_that_alternate_with_other_events_take_no_more_memory_than_their_weight(int length) {
    var runs = new StoredRun.Builder(1_024);
    for (var i = 0; i < 512; i++) {
      var delta = new ContentDelta("x".repeat(length), i, new BlockId("block"));
      assertThat(runs.addDelta(TASK, delta, Position.of(i + 1L), 0)).isTrue();
      var raw = new InternalRaw("agent", "line");
      runs.add(
          StoredEntry.fresh(
              new Entry(CONTEXT, new Position(i + 1L, 1), new UUID(0, i), Instant.EPOCH, TASK, raw),
              0));
    }
    var capacity = 0L;
    var weight = 0L;
    for (var run : runs.build()) {
      if (run instanceof DeltaRun deltas) {
        capacity += deltas.capacityBytes();
        weight += deltas.weight();
      }
    }
    assertThat(capacity).isLessThanOrEqualTo(weight);
  }
}
