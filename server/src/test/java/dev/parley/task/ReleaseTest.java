package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// An agent that cannot release the resources of its tasks.
@Timeout(60)
class ReleaseTest {

  @TempDir Path folder;

  /// Asks a question and waits for the answer.
  private static final class Holder implements Agent {

    @Override
    public boolean resumes() {
      return true;
    }

    @Override
    public Optional<ResourceRelease> release() {
      return Optional.of(
          (_, task) -> {
            throw new IllegalStateException("it holds on to " + task);
          });
    }

    @Override
    public TaskOutcome work(TaskRun taskRun) {
      var id = new InputId(taskRun.sources().ids().get());
      var expires = taskRun.sources().time().instant().plus(Duration.ofHours(1));
      taskRun.emit(
          List.of(
              new InputRequired(
                  id, true, InputType.CLARIFICATION, "who?", null, null, null, expires)));
      return new TaskOutcome.Parked(
          TaskState.WAITING_INPUT, Json.object().put("blockedBy", "user"));
    }
  }

  @Test
  void tasks_end_all_the_same_and_the_next_one_has_its_turn() throws Exception {
    try (var taskTestBed = TaskTestBed.with(new Holder(), folder)) {
      for (var text : List.of("a", "b")) {
        var task = taskTestBed.submit(text).taskId();
        awaitWaiting(taskTestBed, task);
        taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);

        assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      }
    }
  }

  private static void awaitWaiting(TaskTestBed taskTestBed, TaskId task)
      throws InterruptedException {
    taskTestBed.await(
        entry ->
            task.equals(entry.taskId())
                && entry.event() instanceof TaskStatus status
                && status.status() == TaskState.WAITING_INPUT);
  }
}
