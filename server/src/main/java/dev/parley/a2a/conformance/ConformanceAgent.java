package dev.parley.a2a.conformance;

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
import dev.parley.protocol.TaskState;
import dev.parley.task.Agent;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
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
  public Outcome work(Run run) throws InterruptedException {
    var message = run.created().messageId();
    var said = message == null ? "" : message.value();
    for (var entry : run.news()) {
      switch (entry.event()) {
        case InputReceived received when received.metadata() != null ->
            said = received.metadata().path("a2a").path("messageId").asString("");
        case InputLapsed _ -> {
          return said(run, "Nobody answered");
        }
        default -> {} // The agent's own events.
      }
    }
    return act(run, said);
  }

  private static Outcome act(Run run, String id) throws InterruptedException {
    if (id.startsWith("tck-complete-task")) {
      return said(run, "Hello from TCK");
    }
    if (id.startsWith("tck-artifact-file-url")) {
      return made(run, FILE, file("", Json.object().put("url", "https://example.com/" + FILE)));
    }
    if (id.startsWith("tck-artifact-file") || id.startsWith("tck-stream-artifact-file")) {
      return made(run, FILE, file("Generated file content", null));
    }
    if (id.startsWith("tck-artifact-data")) {
      var data = Json.object().put("key", "value").put("count", 42);
      return made(
          run, "data", (name, version) -> new DataWrite(name, "data", null, data, null, version));
    }
    if (id.startsWith("tck-artifact-text")) {
      return said(run, "Generated text content");
    }
    if (id.startsWith("tck-message-response")) {
      var alone = Json.object();
      alone.putObject("a2a").put("message", true);
      return new Outcome.Completed("Direct message response", alone);
    }
    if (id.startsWith("tck-reject-task")) {
      return new Outcome.Failed(ErrorCode.REJECTED, "rejected", false);
    }
    if (id.startsWith("tck-stream-artifact-chunked")) {
      return said(run, "chunk-1 ", "chunk-2");
    }
    if (id.startsWith("tck-stream-002")) {
      return new Outcome.Completed("");
    }
    if (id.startsWith("tck-stream-artifact-text")) {
      return said(run, "Streamed text content");
    }
    if (id.startsWith("tck-stream-ordering-001")) {
      return said(run, "Ordered output");
    }
    if (id.startsWith("tck-stream-001")) {
      return said(run, "Stream hello from TCK");
    }
    if (id.startsWith("tck-stream-003")) {
      return said(run, "Stream task lifecycle");
    }
    if (id.startsWith("test-resubscribe-message-id")) {
      Thread.sleep(LONG_WORK);
      return said(run, "Long work done");
    }
    return asked(run);
  }

  /// Writes the answer in these pieces and completes the task.
  private static Outcome said(Run run, String... pieces) {
    var block = run.sources().blockId();
    var events = new ArrayList<Event>();
    for (var piece : pieces) {
      events.add(new ContentDelta(piece, events.size(), block));
    }
    var whole = String.join("", pieces);
    events.add(new ContentComplete(whole, block, FinishReason.STOP, null, null, null));
    run.emit(events);
    return new Outcome.Completed(whole);
  }

  private static Outcome made(
      Run run, String name, BiFunction<ArtifactId, Integer, Event> artifact) {
    var id = new ArtifactId(name);
    run.emit(state -> List.of(artifact.apply(id, state.nextVersion(id))));
    return new Outcome.Completed("");
  }

  private static BiFunction<ArtifactId, Integer, Event> file(
      String content, @Nullable ObjectNode metadata) {
    return (id, version) ->
        new FileWrite(id, content, 0, true, FILE, null, TEXT, Encoding.UTF_8, metadata, version);
  }

  private static Outcome asked(Run run) {
    var id = new InputId(run.sources().ids().get());
    run.emit(
        List.of(
            new InputRequired(
                id,
                true,
                InputType.CLARIFICATION,
                "What else is wanted?",
                null,
                null,
                null,
                run.sources().clock().instant().plus(PATIENCE))));
    var waiting = Json.object().put("blockedBy", "user");
    waiting.putArray("inputIds").add(id.value());
    return new Outcome.Parked(TaskState.WAITING_INPUT, waiting);
  }
}
