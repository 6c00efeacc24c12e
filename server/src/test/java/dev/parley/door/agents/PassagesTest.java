package dev.parley.door.agents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.door.Stride;
import dev.parley.door.Voice;
import dev.parley.log.Draft;
import dev.parley.log.Guard;
import dev.parley.log.MemoryLog;
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
import dev.parley.view.Views;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Messages of an agent, encoded once for all subscribers.
class PassagesTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final TaskId AGENT = new TaskId("a");
  private static final Origin ORIGIN = Origin.root(AGENT, new AgentTypeId("agent"));
  private static final Telling.Place BEGIN = new Telling.Place(CONTEXT, AGENT, Position.START, 0);

  @TempDir Path folder;
  private final MemoryLog log = new MemoryLog(InstantSource.system());
  private Views views;
  private Passages passages;

  @BeforeEach
  void open() {
    views = new Views(folder.resolve("views.db"), log);
    passages = new Passages(log, new MessageForm(new Voice(log, views)));
    log.create(CONTEXT, new ContextCreated("local", null, null));
    append(
        List.of(
            new Draft(
                ORIGIN, new TaskCreated(Initiator.USER, null, null, null, null, null, null, null)),
            new Draft(ORIGIN, new TaskStatus(TaskState.WORKING, null, null))));
  }

  @AfterEach
  void close() {
    views.close();
  }

  private void append(List<Draft> drafts) {
    log.append(CONTEXT, Guard.none(), _ -> drafts);
  }

  private void say(int count, String text) {
    append(
        IntStream.range(0, count)
            .mapToObj(n -> new Draft(ORIGIN, new ContentDelta(text, n, new BlockId("b"))))
            .toList());
  }

  @Test
  void all_who_are_at_one_place_are_told_the_same_until_it_is_forgotten() throws Exception {
    say(10, "x");
    var first = passages.after(BEGIN, new Stride(), true);
    assertThat(passages.after(BEGIN, new Stride(), true)).isSameAs(first);
    passages.forget(new ContextId("another"));
    assertThat(passages.after(BEGIN, new Stride(), true)).isSameAs(first);
    passages.forget(CONTEXT);
    assertThat(passages.after(BEGIN, new Stride(), true)).isNotSameAs(first);
  }

  @Test
  void the_end_is_not_kept() throws Exception {
    var end = passages.after(BEGIN, new Stride(), true).end();
    assertThat(passages.after(end, new Stride(), true).end()).isEqualTo(end);
    say(1, "more");
    assertThat(passages.after(end, new Stride(), true).end().number()).isEqualTo(end.number() + 1);
  }

  @Test
  void passages_follow_each_other_without_a_hole_and_in_bounded_parts() throws Exception {
    say(3_000, "x".repeat(500));
    var numbers = new ArrayList<Long>();
    var happened = 0;
    var stride = new Stride();
    var passage = passages.after(BEGIN, stride, true);
    for (; passage.entries() > 0; passage = passages.after(passage.end(), stride, true)) {
      for (var part : passage.parts()) {
        switch (part) {
          case Passage.Part.Said(var volley, var last) -> {
            var count = volley.arguments().size();
            IntStream.range(0, count).forEach(i -> numbers.add(last - count + 1 + i));
            assertThat(volley.arguments().stream().mapToInt(String::length).sum())
                .isLessThanOrEqualTo(48 * 1024);
          }
          case Passage.Part.Happened _ -> happened++;
        }
      }
    }
    assertThat(numbers).hasSize(3_001).first().isEqualTo(1L);
    assertThat(numbers.getLast()).isEqualTo(3_001L);
    assertThat(numbers).isSorted().doesNotHaveDuplicates();
    assertThat(happened).isEqualTo(1);
  }
}
