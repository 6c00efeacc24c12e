package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/// Runs the clocks of tasks, and pauses them while the task, or everything that it waits for, waits
/// for a person.
final class TaskClock {

  private final EventLog log;
  private final Duration usual;
  private final Deadlines deadlines;
  private final BiConsumer<Run.Subject, Ending> onEnd;

  TaskClock(
      EventLog log, Duration usual, Deadlines deadlines, BiConsumer<Run.Subject, Ending> onEnd) {
    this.log = log;
    this.usual = usual;
    this.deadlines = deadlines;
    this.onEnd = onEnd;
  }

  /// Starts the clock of the task, with its remaining time, and resumes those of its ancestors.
  /// Returns the deadline.
  Instant start(Run.Subject subject) {
    var until = startOne(subject);
    above(subject).forEach(deadlines::resume);
    return until;
  }

  private Instant startOne(Run.Subject subject) {
    var task = subject.origin().taskId();
    var wanted = subject.created().timeoutMs();
    var timeout = wanted == null ? usual : Duration.ofMillis(wanted);
    return deadlines.start(
        task,
        () -> {
          var created = Position.of(subject.createdSeq());
          var left = timeout.minus(WorkTime.used(log, subject.context(), task, created));
          return left.isNegative() ? Duration.ZERO : left;
        },
        () -> onEnd.accept(subject, Ending.timedOut(timeout)));
  }

  /// The task waits. If it waits for a person, or only for subtasks that wait for a person, pauses
  /// its clock and those of ancestors that only wait for it.
  void parked(Run.Subject subject) {
    log.inspect(subject.context(), state -> resting(state, subject)).forEach(deadlines::pause);
  }

  /// Starts the clock of a task that waits for subtasks, unless those wait for a person.
  void watch(Run.Subject subject) {
    var task = subject.origin().taskId();
    var waits =
        log.inspect(
            subject.context(),
            state ->
                state
                    .openTask(task)
                    .filter(open -> open.state() == TaskState.WAITING_SUBTASK)
                    .filter(open -> !rests(state, open))
                    .isPresent());
    if (waits) {
      startOne(subject);
    }
  }

  void forget(TaskId task) {
    deadlines.forget(task);
  }

  private List<TaskId> above(Run.Subject subject) {
    return log.inspect(
        subject.context(),
        state -> chain(state, subject).stream().map(task -> task.origin().taskId()).toList());
  }

  private static List<TaskId> resting(ContextState state, Run.Subject subject) {
    return Stream.concat(
            state.openTask(subject.origin().taskId()).stream(), chain(state, subject).stream())
        .filter(task -> rests(state, task))
        .map(task -> task.origin().taskId())
        .toList();
  }

  private static List<OpenTask> chain(ContextState state, Run.Subject subject) {
    var chain = new ArrayList<OpenTask>();
    for (var task = state.openTask(subject.origin().parentTaskId());
        task.isPresent();
        task = state.openTask(task.get().origin().parentTaskId())) {
      chain.add(task.get());
    }
    return chain;
  }

  private static boolean rests(ContextState state, OpenTask task) {
    return PersonWait.holds(state, task.origin().taskId());
  }

  static Run.Subject subject(ContextId context, OpenTask task) {
    return new Run.Subject(context, task.origin(), task.created(), task.createdSeq());
  }
}
