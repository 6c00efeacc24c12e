package dev.parley.external.cli;

import dev.parley.agent.TaskHistory;
import dev.parley.agent.TaskQuestion;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ToolCallId;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The state of a task of a command-line agent. Its questions are those whose result was not sent to
/// the program. For one thread.
final class CliTaskState extends TaskHistory {

  /// Key in the state of a checkpoint: the program is about to be started, for the n-th time.
  static final String BEGUN = "begun";

  /// Beside [#BEGUN]: how many messages to the task this start delivers to the program.
  static final String DELIVERED_COUNT = "told";

  /// Beside [#DONE]: the answer of the program.
  static final String ANSWER = "answer";

  /// Key in the state of a checkpoint: the program has answered.
  static final String DONE = "done";

  int begun;
  boolean done;
  String lastText = "";
  @Nullable String session;
  @Nullable JsonNode totals;

  @Override
  public void apply(Event event, Instant at) {
    super.apply(event, at);
    switch (event) {
      case InternalCheckpoint checkpoint when checkpoint.state() != null ->
          apply(checkpoint.state().path(ExternalSessions.STATE));
      case ContentComplete content when !Boolean.TRUE.equals(content.partial()) ->
          lastText = content.content();
      case InputLapsed lapsed -> forgetQuestion(lapsed.inputId().value());
      default -> {} // Other events do not change the state of the task.
    }
  }

  private void apply(JsonNode state) {
    if (state.has(BEGUN)) {
      begun = state.path(BEGUN).asInt();
      done = false;
      removeMessages(
          state.has(DELIVERED_COUNT) ? state.path(DELIVERED_COUNT).asInt() : messages().size());
    }
    if (state.has(DONE)) {
      done = true;
      lastText = state.path(ANSWER).asString(lastText);
    }
    if (state.has("session")) {
      session = state.path("session").asString();
      totals = state.get("totals");
    }
    if (state.has(Approvals.DELIVERED)) {
      forgetQuestion(state.path(Approvals.DELIVERED).asString());
    }
  }

  /// The question about a call.
  Optional<TaskQuestion> questionFor(ToolCallId call) {
    return questions().values().stream()
        .filter(question -> question.facts().toolCallId().filter(call::equals).isPresent())
        .findFirst();
  }
}
