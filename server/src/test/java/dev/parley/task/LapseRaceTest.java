package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.Guard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

/// An answer that arrives at the moment in which the task fails because its question expires.
@Timeout(60)
class LapseRaceTest {

  private static final InputId INPUT = new InputId("i");
  private static final Duration SOON = Duration.ofSeconds(1);

  @TempDir Path folder;

  /// Asks a question, waits for the answer with or without a thread, and returns it.
  private record Asker(boolean parks) implements Agent {

    @Override
    public boolean resumes() {
      return true;
    }

    @Override
    public Outcome work(Run run) throws InterruptedException {
      var waiting = Json.object().put("blockedBy", "user");
      for (var entry : run.news()) {
        if (entry.event() instanceof InputReceived received) {
          return new Outcome.Completed(received.value().asString());
        }
      }
      var before = run.inspect(state -> state.head());
      run.emit(List.of(question(run)));
      if (parks) {
        return new Outcome.Parked(TaskState.WAITING_INPUT, waiting);
      }
      var end =
          run.rest(
              new TaskStatus(TaskState.WAITING_INPUT, null, waiting),
              before,
              entry -> entry.event() instanceof InputReceived);
      return new Outcome.Completed(((InputReceived) end.event()).value().asString());
    }

    private static InputRequired question(Run run) {
      var metadata = Json.object().put(WhenLapsed.KEY, WhenLapsed.FAIL.wire());
      var expires = run.sources().clock().instant().plus(SOON);
      return new InputRequired(
          INPUT, true, InputType.CLARIFICATION, "who?", null, null, metadata, expires);
    }
  }

  private World world(boolean parks, FailPoint failPoint) {
    Map<AgentTypeId, Agent> agents = Map.of(World.AGENT, new Asker(parks));
    return World.with(World.newLog(), agents, folder, Limits.DEFAULT, failPoint);
  }

  private static void answer(World world) {
    world
        .tasks()
        .answer(
            World.CONTEXT,
            INPUT,
            StringNode.valueOf("ada"),
            Answerer.trusted("local"),
            Guard.none());
  }

  @Test
  void an_answer_that_is_taken_wins() throws Exception {
    var here = new AtomicReference<World>();
    FailPoint late =
        place -> {
          // The question has expired and the task is about to fail, but its end is not written yet.
          if (place.equals("below-ended")) {
            answer(here.get());
          }
        };
    try (var world = world(true, late)) {
      here.set(world);
      var task = world.say("hello").taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.events(task, InputReceived.class)).hasSize(1);
      assertThat(world.events(task, InputLapsed.class)).isEmpty();
      assertThat(world.events(task, ErrorReported.class)).isEmpty();
    }
  }

  @Test
  void an_answer_that_comes_too_late_is_refused() throws Exception {
    for (var parks : List.of(true, false)) {
      try (var world = world(parks, FailPoint.NONE)) {
        var task = world.say("hello").taskId();

        assertThat(world.end(task)).isEqualTo(TaskState.FAILED);
        assertThatThrownBy(() -> answer(world)).isInstanceOf(Rejection.Conflict.class);
        assertThat(world.events(task, InputReceived.class)).isEmpty();
        assertThat(world.events(task, InputLapsed.class)).hasSize(1);
        assertThat(world.events(task, ErrorReported.class)).hasSize(1);
      }
    }
  }
}
