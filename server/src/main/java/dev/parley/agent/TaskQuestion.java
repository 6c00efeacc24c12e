package dev.parley.agent;

import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Position;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.task.DeclinedAnswer;
import dev.parley.task.TaskRun;
import dev.parley.tool.ToolAnswer;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/// A question of a task, or its request for a sign-in, as the log has it. `consulted` if the parent
/// agents were asked; `end` is the event that answered or ended it.
public record TaskQuestion(
    String id,
    QuestionFacts facts,
    boolean signIn,
    boolean requireUser,
    boolean consulted,
    @Nullable Event end) {

  private static final String NO_ANSWER = "there was no answer";

  /// The question that an event asks.
  static Optional<TaskQuestion> of(Event event) {
    return switch (event) {
      case InputRequired asked ->
          Optional.of(
              new TaskQuestion(
                  asked.inputId().value(),
                  asked.facts(),
                  false,
                  Boolean.TRUE.equals(asked.requireUser()),
                  false,
                  null));
      case AuthRequired asked ->
          Optional.of(
              new TaskQuestion(asked.authId().value(), asked.facts(), true, true, false, null));
      default -> Optional.empty(); // No other event asks a question.
    };
  }

  /// The id of the question that an event answers or ends.
  static Optional<String> endedBy(Event event) {
    return switch (event) {
      case InputReceived answer -> Optional.of(answer.inputId().value());
      case InputLapsed lapsed -> Optional.of(lapsed.inputId().value());
      case AuthCompleted done -> Optional.of(done.authId().value());
      case AuthLapsed lapsed -> Optional.of(lapsed.authId().value());
      default -> Optional.empty(); // No other event ends a question.
    };
  }

  /// Waits on this thread until a question ends; `before` is a position before it.
  public static TaskQuestion await(TaskRun taskRun, InputRequired asked, Position before)
      throws InterruptedException {
    var waiting = StatusFacts.ofWaiting(List.of(asked.inputId()));
    var end =
        taskRun.waitFor(
            new TaskStatus(TaskState.WAITING_INPUT, null, waiting),
            before,
            entry -> endedBy(entry.event()).filter(asked.inputId().value()::equals).isPresent());
    return of(asked).orElseThrow().endedWith(end.event());
  }

  TaskQuestion asConsulted() {
    return new TaskQuestion(id, facts, signIn, requireUser, true, end);
  }

  TaskQuestion endedWith(Event event) {
    return new TaskQuestion(id, facts, signIn, requireUser, consulted, event);
  }

  public boolean open() {
    return end == null;
  }

  QuestionPurpose purpose() {
    return facts.purpose().orElse(QuestionPurpose.NEED);
  }

  /// The decision of a person on a tool call.
  public sealed interface ApprovalDecision {

    /// The call may be made, with these arguments.
    record Allowed(ObjectNode arguments) implements ApprovalDecision {}

    /// The call may not be made.
    record Denied(String reason) implements ApprovalDecision {}
  }

  /// Reads the answer to the question whether a call with these arguments may be made: a boolean,
  /// or `{approved, arguments, reason}`. Without an answer the call is denied.
  public ApprovalDecision decision(ObjectNode arguments) {
    var value = value();
    if (value == null
        || !(value.isBoolean() ? value.asBoolean() : value.path("approved").asBoolean(false))) {
      var reason = value == null ? "" : value.path("reason").asString("");
      return new ApprovalDecision.Denied(
          "a person denied this call" + (reason.isBlank() ? "" : ": " + reason));
    }
    return new ApprovalDecision.Allowed(
        value.path("arguments") instanceof ObjectNode edited ? edited : arguments);
  }

  /// The answer for a tool; null while the question is open.
  public @Nullable ToolAnswer answer() {
    return switch (end) {
      case InputReceived(_, _, _, _, _, var value) ->
          ToolAnswer.of(value == null ? NullNode.instance : value);
      case AuthCompleted _ -> new ToolAnswer.Given(BooleanNode.TRUE);
      case InputLapsed(_, var reason, _) ->
          new ToolAnswer.Lapsed(reason == null ? "no answer" : reason);
      case AuthLapsed(_, var reason, _) ->
          new ToolAnswer.Lapsed(reason == null ? "no answer" : reason);
      case null, default -> null; // It is open.
    };
  }

  /// The value of the answer; null if there is none, or the person skipped the question.
  public @Nullable JsonNode value() {
    return end instanceof InputReceived answer && !DeclinedAnswer.skips(answer.value())
        ? answer.value()
        : null;
  }

  /// Why there is no answer, if the question expired or the person skipped it.
  public Optional<String> unansweredReason() {
    return switch (end) {
      case InputReceived answer when DeclinedAnswer.skips(answer.value()) ->
          Optional.of(DeclinedAnswer.SKIPPED);
      case InputLapsed(_, var reason, _) -> Optional.of(reason == null ? NO_ANSWER : reason);
      case AuthLapsed(_, var reason, _) -> Optional.of(reason == null ? NO_ANSWER : reason);
      case null, default -> Optional.empty(); // It is open or answered.
    };
  }
}
