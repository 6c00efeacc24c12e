package dev.parley.offline;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskState;
import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Plays the scenarios of the A2A conformance kits, selected by the prefix of the message id. Asks
/// a question for other ids.
///
/// The answers are those of the kits' scenarios, word for word.
public final class ConformanceAgent implements Agent {

  private static final Duration LONG_WORK = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofHours(1);
  private static final String FILE = "output.txt";
  private static final String TEXT = "text/plain";

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    var message = taskRun.created().messageId();
    var said = message == null ? "" : message.value();
    for (var entry : taskRun.readNewEntries()) {
      switch (entry.event()) {
        case InputReceived received ->
            said =
                received
                    .facts()
                    .extension("a2a")
                    .map(kept -> kept.path("messageId").asString(""))
                    .orElse("");
        case InputLapsed _ -> {
          return answer(taskRun, "Nobody answered");
        }
        default -> {} // The agent's own events.
      }
    }
    return act(taskRun, said);
  }

  private static TaskOutcome act(TaskRun taskRun, String id) throws InterruptedException {
    if (id.startsWith("tck-complete-task")) {
      return answer(taskRun, "Hello from TCK");
    }
    if (id.startsWith("tck-artifact-file-url")) {
      return writeArtifact(
          taskRun, FILE, file("", Json.object().put("url", "https://example.com/" + FILE)));
    }
    if (id.startsWith("tck-artifact-file") || id.startsWith("tck-stream-artifact-file")) {
      return writeArtifact(taskRun, FILE, file("Generated file content", null));
    }
    if (id.startsWith("tck-artifact-data")) {
      var data = Json.object().put("key", "value").put("count", 42);
      return writeArtifact(
          taskRun,
          "data",
          (name, version) -> new DataWrite(name, "data", null, data, null, version));
    }
    if (id.startsWith("tck-artifact-text")) {
      return answer(taskRun, "Generated text content");
    }
    if (id.startsWith("tck-message-response")) {
      var alone = Json.object();
      alone.putObject("a2a").put("message", true);
      return new TaskOutcome.Completed("Direct message response", alone);
    }
    if (id.startsWith("tck-reject-task")) {
      return new TaskOutcome.Failed(ErrorCode.REJECTED, "rejected", false);
    }
    if (id.startsWith("tck-stream-artifact-chunked")) {
      return answer(taskRun, "chunk-1 ", "chunk-2");
    }
    if (id.startsWith("tck-stream-002")) {
      return new TaskOutcome.Completed("");
    }
    if (id.startsWith("tck-stream-artifact-text")) {
      return answer(taskRun, "Streamed text content");
    }
    if (id.startsWith("tck-stream-ordering-001")) {
      return answer(taskRun, "Ordered output");
    }
    if (id.startsWith("tck-stream-001")) {
      return answer(taskRun, "Stream hello from TCK");
    }
    if (id.startsWith("tck-stream-003")) {
      return answer(taskRun, "Stream task lifecycle");
    }
    if (id.startsWith("test-resubscribe-message-id")) {
      taskRun.sources().time().sleep(LONG_WORK);
      return answer(taskRun, "Long work done");
    }
    return askBack(taskRun);
  }

  /// Writes the answer in these pieces and completes the task.
  private static TaskOutcome answer(TaskRun taskRun, String... pieces) {
    var block = taskRun.sources().blockId();
    var events = new ArrayList<Event>();
    for (var piece : pieces) {
      events.add(new ContentDelta(piece, events.size(), block));
    }
    var whole = String.join("", pieces);
    events.add(new ContentComplete(whole, block, FinishReason.STOP, null, null, null));
    taskRun.emit(events);
    return new TaskOutcome.Completed(whole);
  }

  private static TaskOutcome writeArtifact(
      TaskRun taskRun, String name, BiFunction<ArtifactId, Integer, Event> artifact) {
    var id = new ArtifactId(name);
    taskRun.emit(state -> List.of(artifact.apply(id, state.nextVersion(id))));
    return new TaskOutcome.Completed("");
  }

  private static BiFunction<ArtifactId, Integer, Event> file(
      String content, @Nullable ObjectNode metadata) {
    return (id, version) ->
        new FileWrite(id, content, 0, true, FILE, null, TEXT, Encoding.UTF_8, metadata, version);
  }

  private static TaskOutcome askBack(TaskRun taskRun) {
    var id = new InputId(taskRun.sources().ids().get());
    taskRun.emit(
        List.of(
            new InputRequired(
                id,
                true,
                InputType.CLARIFICATION,
                "What else is wanted?",
                null,
                null,
                null,
                taskRun.sources().time().instant().plus(PATIENCE))));
    return new TaskOutcome.Parked(TaskState.WAITING_INPUT, StatusFacts.ofWaiting(List.of(id)));
  }
}
