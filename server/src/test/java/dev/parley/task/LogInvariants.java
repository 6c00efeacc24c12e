package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Position;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.function.Function;
import java.util.stream.LongStream;

/// The invariants of every log in which all tasks have ended.
public final class LogInvariants {

  private final List<Entry> entries;

  private LogInvariants(List<Entry> entries) {
    this.entries = entries;
  }

  /// Checks the log of one context.
  public static void check(EventLog log, ContextId context) {
    var entries = read(log, context);
    assertThat(
            entries.stream()
                .filter(e -> !e.event().internal())
                .map(e -> e.position().seq())
                .toList())
        .isEqualTo(LongStream.rangeClosed(1, log.head(context).seq()).boxed().toList());
    var logInvariants = new LogInvariants(entries);
    entries.stream()
        .filter(e -> e.event() instanceof TaskCreated)
        .forEach(logInvariants::checkTask);
    assertThat(log.withOpenTasks()).doesNotContain(context);
  }

  /// All entries of a context.
  public static List<Entry> read(EventLog log, ContextId context) {
    var entries = new ArrayList<Entry>();
    for (var page = log.read(context, Position.START, 1_000);
        !page.isEmpty();
        page = log.read(context, entries.getLast().position(), 1_000)) {
      entries.addAll(page);
    }
    return entries;
  }

  private void checkTask(Entry created) {
    var own = entries.stream().filter(e -> created.taskId().equals(e.taskId())).toList();
    var events = own.stream().map(Entry::event).toList();
    assertThat(own.getFirst()).isEqualTo(created);
    assertThat(own).allMatch(e -> created.origin().equals(e.origin()));
    assertThat(events.stream().filter(TaskTestBed::terminal)).as("ends of %s", created).hasSize(1);
    assertThat(events.getLast()).matches(TaskTestBed::terminal);
    assertThat(ids(events, ToolStart.class, ToolStart::toolCallId))
        .containsExactlyInAnyOrderElementsOf(
            ids(events, ToolComplete.class, ToolComplete::toolCallId))
        .doesNotHaveDuplicates();
    checkBlocks(events);
    checkInputs(events);
    events.stream()
        .filter(ToolStart.class::isInstance)
        .map(ToolStart.class::cast)
        .forEach(start -> checkSpawned(created.taskId(), start));
    if (created.origin().parentTaskId() != null) {
      checkChild(created, own);
    }
  }

  private static <E extends Event> List<ToolCallId> ids(
      List<Event> events, Class<E> type, Function<E, ToolCallId> id) {
    return events.stream().filter(type::isInstance).map(type::cast).map(id).toList();
  }

  private static void checkBlocks(List<Event> events) {
    var open = new HashMap<BlockId, StringBuilder>();
    for (var event : events) {
      if (event instanceof ContentDelta delta) {
        open.computeIfAbsent(delta.blockId(), _ -> new StringBuilder()).append(delta.delta());
      } else if (event instanceof ContentComplete complete) {
        var said = open.remove(complete.blockId());
        assertThat(complete.content()).isEqualTo(said == null ? "" : said.toString());
      }
    }
    assertThat(open).isEmpty();
  }

  /// Every question was answered or has lapsed, exactly once.
  private static void checkInputs(List<Event> events) {
    var open = new HashSet<InputId>();
    for (var event : events) {
      switch (event) {
        case InputRequired required -> assertThat(open.add(required.inputId())).isTrue();
        case InputReceived received -> assertThat(open.remove(received.inputId())).isTrue();
        case InputLapsed lapsed -> assertThat(open.remove(lapsed.inputId())).isTrue();
        default -> {} // Not a question.
      }
    }
    assertThat(open).as("questions that stay open").isEmpty();
  }

  /// WORKFLOW-14: a spawning call names exactly its subtasks, at its start and at its end.
  private void checkSpawned(TaskId task, ToolStart start) {
    var children =
        entries.stream()
            .filter(e -> e.event() instanceof TaskCreated)
            .filter(
                e ->
                    task.equals(e.origin().parentTaskId())
                        && start.toolCallId().equals(e.origin().spawnedByCallId()))
            .map(Entry::taskId)
            .toList();
    if (start.subagentMetadata() == null) {
      assertThat(children).isEmpty();
      return;
    }
    var end =
        entries.stream()
            .filter(e -> task.equals(e.taskId()))
            .map(Entry::event)
            .filter(e -> e instanceof ToolComplete c && c.toolCallId().equals(start.toolCallId()))
            .map(ToolComplete.class::cast)
            .findFirst()
            .orElseThrow();
    assertThat(end.subagentMetadata()).isEqualTo(start.subagentMetadata());
    assertThat(start.subagentMetadata().count())
        .isEqualTo(start.subagentMetadata().taskIds().size());
    if (end.outcome() == ToolEvent.Outcome.CANCELED
        || end.outcome() == ToolEvent.Outcome.INTERRUPTED) {
      assertThat(start.subagentMetadata().taskIds()).containsAll(children);
    } else {
      assertThat(children).containsExactlyElementsOf(start.subagentMetadata().taskIds());
    }
  }

  /// WORKFLOW-15, WORKFLOW-16: a subtask has its root, and its events lie between the two events that its
  /// parent has of it.
  private void checkChild(Entry created, List<Entry> own) {
    var parent = created.origin().parentTaskId();
    var above = entries.stream().filter(e -> parent.equals(e.taskId())).toList();
    assertThat(created.origin().rootTaskId())
        .isEqualTo(above.getFirst().origin().rootTaskId())
        .isNotEqualTo(created.taskId());
    assertThat(created.origin().invocationId()).isNotNull();
    assertThat(
            above.stream()
                .filter(
                    e ->
                        e.event() instanceof ToolStart start
                            && start.toolCallId().equals(created.origin().spawnedByCallId())))
        .hasSize(1);
    var begins =
        above.stream()
            .filter(
                e ->
                    e.event() instanceof SubtaskCreated s && s.subtaskId().equals(created.taskId()))
            .toList();
    var ends =
        above.stream()
            .filter(
                e ->
                    e.event() instanceof SubtaskComplete s
                        && s.subtaskId().equals(created.taskId()))
            .toList();
    assertThat(begins).hasSize(1);
    assertThat(ends).hasSize(1);
    assertThat(own.getFirst().position().after(begins.getFirst().position())).isTrue();
    assertThat(ends.getFirst().position().after(own.getLast().position())).isTrue();
  }
}
