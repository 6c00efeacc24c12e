package dev.parley.api.agents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.projection.AnswerSource;
import dev.parley.projection.TestViews;
import dev.parley.projection.Views;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.stream.ReadSize;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Messages of an agent, encoded once for all subscribers.
class MessageBatchCacheTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final TaskId AGENT = new TaskId("a");
  private static final Origin ORIGIN = Origin.root(AGENT, new AgentTypeId("agent"));
  private static final NumberedReader.NumberedPosition BEGIN =
      new NumberedReader.NumberedPosition(CONTEXT, AGENT, Position.START, 0);

  @TempDir Path folder;
  private final MemoryLog log = new MemoryLog();
  private Views views;
  private MessageBatchCache messageBatchCache;

  @BeforeEach
  void open() {
    views = TestViews.open(folder.resolve("views.db"), log);
    messageBatchCache =
        new MessageBatchCache(log, new AgentMessageEncoder(new AnswerSource(log, views)));
    log.create(CONTEXT, new ContextCreated("local", null, null));
    append(
        List.of(
            new EventDraft(
                ORIGIN, new TaskCreated(Initiator.USER, null, null, null, null, null, null, null)),
            new EventDraft(ORIGIN, new TaskStatus(TaskState.WORKING, null, null))));
  }

  @AfterEach
  void close() {
    views.close();
  }

  private void append(List<EventDraft> drafts) {
    log.append(CONTEXT, AppendGuard.none(), _ -> drafts);
  }

  private void say(int count, String text) {
    append(
        IntStream.range(0, count)
            .mapToObj(n -> new EventDraft(ORIGIN, new ContentDelta(text, n, new BlockId("b"))))
            .toList());
  }

  @Test
  void all_who_are_at_one_place_are_told_the_same_until_it_is_forgotten() throws Exception {
    say(10, "x");
    var first = messageBatchCache.after(BEGIN, new ReadSize(), true);
    assertThat(messageBatchCache.after(BEGIN, new ReadSize(), true)).isSameAs(first);
    messageBatchCache.forget(new ContextId("another"));
    assertThat(messageBatchCache.after(BEGIN, new ReadSize(), true)).isSameAs(first);
    messageBatchCache.forget(CONTEXT);
    assertThat(messageBatchCache.after(BEGIN, new ReadSize(), true)).isNotSameAs(first);
  }

  @Test
  void the_end_is_not_kept() throws Exception {
    var end = messageBatchCache.after(BEGIN, new ReadSize(), true).end();
    assertThat(messageBatchCache.after(end, new ReadSize(), true).end()).isEqualTo(end);
    say(1, "more");
    assertThat(messageBatchCache.after(end, new ReadSize(), true).end().number())
        .isEqualTo(end.number() + 1);
  }

  @Test
  void passages_follow_each_other_without_a_hole_and_in_bounded_parts() throws Exception {
    say(3_000, "x".repeat(500));
    var numbers = new ArrayList<Long>();
    var happened = 0;
    var readSize = new ReadSize();
    var messageBatch = messageBatchCache.after(BEGIN, readSize, true);
    for (;
        messageBatch.entries() > 0;
        messageBatch = messageBatchCache.after(messageBatch.end(), readSize, true)) {
      for (var batchItem : messageBatch.items()) {
        switch (batchItem) {
          case MessageBatchCache.BatchItem.EncodedMessages(var socketEventBatch, var last) -> {
            var count = socketEventBatch.arguments().size();
            IntStream.range(0, count).forEach(i -> numbers.add(last - count + 1 + i));
            assertThat(socketEventBatch.arguments().stream().mapToInt(String::length).sum())
                .isLessThanOrEqualTo(48 * 1024);
          }
          case MessageBatchCache.BatchItem.AgentChange _ -> happened++;
          case MessageBatchCache.BatchItem.SkippedMessages _ ->
              throw new AssertionError("the cache skips nothing");
        }
      }
    }
    assertThat(numbers).hasSize(3_001).first().isEqualTo(1L);
    assertThat(numbers.getLast()).isEqualTo(3_001L);
    assertThat(numbers).isSorted().doesNotHaveDuplicates();
    assertThat(happened).isEqualTo(1);
  }
}
