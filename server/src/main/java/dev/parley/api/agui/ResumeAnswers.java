package dev.parley.api.agui;

import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.AnswerFacts;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.task.TaskResumption.GivenAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Maps the `resume` entries and tool results of a request to answers for a paused run.
final class ResumeAnswers {

  /// In the answer to an approval: edited arguments for the tool call.
  static final String EDITED = "editedArgs";

  private static final String ABANDONED = "abandoned in run ";

  private final RunInput input;
  private final List<OpenQuestion> asked;

  ResumeAnswers(RunInput input, List<OpenQuestion> asked) {
    this.input = input;
    this.asked = asked;
  }

  /// The run in which a question was abandoned, from the reason why it expired.
  static @Nullable String runId(@Nullable String reason) {
    return reason != null && reason.startsWith(ABANDONED)
        ? reason.substring(ABANDONED.length())
        : null;
  }

  /// The tool call whose result the client sent as a message, if this is such a result.
  static Optional<String> toolCallId(InputReceived received) {
    return received.facts().toolMessage().map(AnswerFacts.ToolMessage::toolCallId);
  }

  /// The message with that result.
  static Optional<ObjectNode> message(InputReceived received) {
    return received
        .facts()
        .toolMessage()
        .map(
            sent -> {
              var value = received.value();
              var json = Json.object().put("id", sent.messageId()).put("role", "tool");
              json.put("toolCallId", sent.toolCallId());
              var text =
                  value == null ? "" : value.isString() ? value.asString() : value.toString();
              return json.put("content", text);
            });
  }

  /// The answers.
  ///
  /// @param speaks whether the request also has a new message of the user
  ///
  /// @throws Rejection.Conflict if an answered interrupt is not open, or an open interrupt is not
  ///     answered
  /// @throws Rejection.Invalid if an entry needs a payload and has none
  List<GivenAnswer> answers(boolean speaks) {
    var given = new ArrayList<GivenAnswer>();
    for (var resumeEntry : input.resume()) {
      var question =
          asked.stream()
              .filter(one -> one.id().value().equals(resumeEntry.interruptId()))
              .filter(one -> !Interrupts.isToolCall(one))
              .findFirst()
              .orElseThrow(() -> notOpen(resumeEntry.interruptId()));
      given.add(answer(question, resumeEntry));
    }
    var open =
        asked.stream()
            .filter(one -> !Interrupts.isToolCall(one))
            .map(one -> one.id().value())
            .filter(id -> input.resume().stream().noneMatch(r -> r.interruptId().equals(id)))
            .collect(Collectors.joining(", "));
    if (!open.isEmpty()) {
      throw new Rejection.Conflict(
          "interrupts-open",
          "the thread waits for answers; resume must have an entry for each of: " + open);
    }
    for (var question : asked) {
      if (Interrupts.isToolCall(question)) {
        result(question, speaks).ifPresent(given::add);
      }
    }
    return given;
  }

  /// The rejection of an answer to an interrupt that is not open.
  static Rejection notOpen(String interrupt) {
    return new Rejection.Conflict(
        "interrupt-not-open",
        "the interrupt "
            + interrupt
            + " is not open: it was answered, has expired, or is not of this thread");
  }

  private GivenAnswer answer(OpenQuestion question, RunInput.ResumeEntry resumeEntry) {
    var about = AnswerFacts.ofRun(input.runId());
    if (question.auth() != null && resumeEntry.resolved()) {
      throw new Rejection.Conflict(
          "sign-in-elsewhere",
          "AG-UI does not accept secrets: sign in at the address in the interrupt's"
              + " metadata.signInAt; the run then continues");
    }
    var approval =
        question.input() != null && question.input().inputType() == InputType.CONFIRMATION;
    if (!resumeEntry.resolved()) {
      return approval
          ? new GivenAnswer(question.id(), denied(), about, null)
          : new GivenAnswer(question.id(), null, null, ABANDONED + input.runId());
    }
    var payload = resumeEntry.payload();
    if (payload == null) {
      throw new Rejection.Invalid(
          "invalid-answer",
          "the entry for the interrupt " + resumeEntry.interruptId() + " needs a payload");
    }
    return new GivenAnswer(question.id(), approval ? approval(payload) : payload, about, null);
  }

  private static ObjectNode denied() {
    return Json.object().put("approved", false).put("reason", "the person abandoned it");
  }

  private static JsonNode approval(JsonNode payload) {
    if (payload instanceof ObjectNode object && object.has(EDITED)) {
      var other = object.deepCopy();
      other.set("arguments", other.remove(EDITED));
      return other;
    }
    return payload;
  }

  /// The latest result of a client tool call. Without a result the call keeps waiting, unless the
  /// user sent a new message.
  private Optional<GivenAnswer> result(OpenQuestion question, boolean speaks) {
    var call = question.input() == null ? null : question.input().facts().toolCallId().orElse(null);
    var result =
        input.messages().stream()
            .filter(message -> message.hasRole("tool"))
            .filter(message -> call != null && call.value().equals(message.toolCallId()))
            .reduce((_, last) -> last);
    if (result.isPresent()) {
      var message = result.get();
      var about = AnswerFacts.ofToolMessage(input.runId(), message.id(), message.toolCallId());
      JsonNode value =
          message.error() == null
              ? StringNode.valueOf(message.text())
              : Json.object().put("error", message.error());
      return Optional.of(new GivenAnswer(question.id(), value, about, null));
    }
    return speaks
        ? Optional.of(new GivenAnswer(question.id(), null, null, ABANDONED + input.runId()))
        : Optional.empty();
  }
}
