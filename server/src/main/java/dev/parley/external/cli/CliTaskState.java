package dev.parley.external.cli;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The state of a task of a command-line agent, folded from its events. For one thread.
final class CliTaskState {

  /// Key in the state of a checkpoint: the program is about to be started, for the n-th time.
  static final String BEGUN = "begun";

  /// Beside [#BEGUN]: how many messages to the task this start delivers to the program.
  static final String DELIVERED_COUNT = "told";

  /// Beside [#BEGUN]: the session that the program resumes, unless it resumes a copy.
  static final String RESUMES = "resumes";

  /// Beside [#DONE]: the answer of the program.
  static final String ANSWER = "answer";

  /// Key in the state of a checkpoint: the program has answered.
  static final String DONE = "done";

  /// A question about a call, and its answer if that has arrived and was not sent to the program.
  record PendingApproval(InputRequired asked, @Nullable InputReceived answer) {}

  int begun;
  boolean done;
  int thoughts;
  int turns;
  String lastText = "";
  @Nullable String session;
  @Nullable JsonNode totals;
  final Map<ToolCallId, ToolStart> openCalls = new LinkedHashMap<>();
  final Map<InputId, PendingApproval> questions = new LinkedHashMap<>();
  private final List<String> undelivered = new ArrayList<>();

  void add(List<Entry> entries) {
    entries.forEach(this::add);
  }

  private void add(Entry entry) {
    switch (entry.event()) {
      case InternalCheckpoint checkpoint when checkpoint.state() != null -> add(checkpoint.state());
      case Message message when message.role() == Role.USER -> undelivered.add(message.content());
      case ThoughtStream _ -> thoughts++;
      case InternalLlmCall call -> turns = Math.max(turns, call.iteration());
      case ContentComplete content when !Boolean.TRUE.equals(content.partial()) ->
          lastText = content.content();
      case ToolStart start -> openCalls.put(start.toolCallId(), start);
      case ToolComplete end -> openCalls.remove(end.toolCallId());
      case InputRequired asked -> questions.put(asked.inputId(), new PendingApproval(asked, null));
      case InputReceived answer ->
          questions.computeIfPresent(
              answer.inputId(),
              (_, pendingApproval) -> new PendingApproval(pendingApproval.asked(), answer));
      case InputLapsed lapsed -> questions.remove(lapsed.inputId());
      default -> {} // Other events do not change the state of the task.
    }
  }

  private void add(ObjectNode checkpoint) {
    var state = checkpoint.path(CliEventWriter.STATE);
    if (state.has(BEGUN)) {
      begun = state.path(BEGUN).asInt();
      done = false;
      var told =
          state.has(DELIVERED_COUNT) ? state.path(DELIVERED_COUNT).asInt() : undelivered.size();
      undelivered.subList(0, Math.min(told, undelivered.size())).clear();
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
      questions.remove(new InputId(state.path(Approvals.DELIVERED).asString()));
    }
  }

  /// The number of messages in [#undeliveredText].
  int undeliveredCount() {
    return undelivered.size();
  }

  /// The messages to the task that were not sent to the program.
  Optional<String> undeliveredText() {
    return undelivered.isEmpty() ? Optional.empty() : Optional.of(String.join("\n\n", undelivered));
  }

  /// The question about a call, if the answer was not sent to the program.
  Optional<PendingApproval> questionFor(ToolCallId call) {
    return questions.values().stream()
        .filter(
            pendingApproval ->
                pendingApproval.asked().facts().toolCallId().filter(call::equals).isPresent())
        .findFirst();
  }

  /// The open questions: neither answered nor lapsed.
  List<InputId> unanswered() {
    return questions.values().stream()
        .filter(pendingApproval -> pendingApproval.answer() == null)
        .map(pendingApproval -> pendingApproval.asked().inputId())
        .toList();
  }

  /// The hash of the call that a question is about.
  static String hash(PendingApproval pendingApproval) {
    return pendingApproval.asked().facts().hash().orElse("");
  }
}
