package dev.parley.external.cli;

import dev.parley.agent.QuestionFactory;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.VisibleText;
import dev.parley.task.TaskRun;
import dev.parley.tool.CallSummary;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.Urgency;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Decides whether a program may make a call: the policy first, then a person.
///
/// For one thread.
public final class Approvals {

  /// Key in the state of a checkpoint: the question whose answer is about to be sent to the
  /// program.
  static final String DELIVERED = "delivered";

  static final String GONE = "the program that asked has ended";
  private static final String WITHDRAWN = "the program no longer asks for it";
  private static final int WITHDRAWN_MAX = 1_000;

  /// The result of a question.
  public sealed interface ApprovalDecision {

    /// A decision that is sent to the program.
    sealed interface FinalDecision extends ApprovalDecision {}

    /// The call may be made, with these arguments.
    record Allowed(ObjectNode arguments) implements FinalDecision {}

    /// The call may not be made.
    record Denied(String reason) implements FinalDecision {}

    /// The program has withdrawn the question.
    record Withdrawn() implements ApprovalDecision {}
  }

  private final TaskRun taskRun;
  private final CliSettings settings;
  private final ProgramAdapter programAdapter;
  private final Duration patience;
  private final Map<String, ApprovalDecision> granted = new HashMap<>();

  /// Tracks the questions of one run of the program. A question lapses when the program ends or
  /// withdraws it. The lock guards all fields.
  final class PermissionQuestions {

    private boolean gone;
    private @Nullable InputId open;
    private @Nullable String request;
    private final SequencedSet<String> withdrawn = new LinkedHashSet<>();

    /// Records that the program has ended. Any thread may call this.
    void programEnded() {
      InputId asked;
      String reason;
      synchronized (this) {
        gone = true;
        asked = open;
        reason = request != null && withdrawn.contains(request) ? WITHDRAWN : GONE;
      }
      if (asked != null) {
        lapse(asked, reason);
      }
    }

    /// Records that the program has withdrawn a question. Any thread may call this, even before the
    /// question is asked.
    void withdraw(String question) {
      InputId asked;
      synchronized (this) {
        withdrawn.add(question);
        if (withdrawn.size() > WITHDRAWN_MAX) {
          withdrawn.removeFirst();
        }
        asked = question.equals(request) ? open : null;
      }
      if (asked != null) {
        lapse(asked, WITHDRAWN);
      }
    }

    private synchronized boolean hasEnded() {
      return gone;
    }

    private synchronized boolean isWithdrawn(String question) {
      return withdrawn.contains(question);
    }

    /// Records that the run now waits for this question. Returns the reason if the question must
    /// lapse at once, because the program has withdrawn it or has ended; null otherwise.
    private synchronized @Nullable String beginWait(InputId asked, String question) {
      open = asked;
      request = question;
      return withdrawn.contains(question) ? WITHDRAWN : gone ? GONE : null;
    }

    private synchronized void endWait() {
      open = null;
      request = null;
    }
  }

  Approvals(
      TaskRun taskRun, CliSettings settings, ProgramAdapter programAdapter, Duration patience) {
    this.taskRun = taskRun;
    this.settings = settings;
    this.programAdapter = programAdapter;
    this.patience = patience;
  }

  /// Records a decision that was made before the program was started again.
  void grant(String hash, ApprovalDecision approvalDecision) {
    granted.put(hash, approvalDecision);
  }

  /// Decides, and returns when the decision can be sent to the program.
  ApprovalDecision decide(
      ProgramEvent.PermissionAsked permissionAsked,
      Optional<ToolCallId> call,
      PermissionQuestions permissionQuestions)
      throws InterruptedException {
    if (permissionQuestions.hasEnded()) {
      return new ApprovalDecision.Denied(GONE);
    }
    if (permissionQuestions.isWithdrawn(permissionAsked.request())) {
      return new ApprovalDecision.Withdrawn();
    }
    var hash = QuestionFactory.hash(permissionAsked.tool(), permissionAsked.arguments());
    var earlier = granted.remove(hash);
    if (earlier != null) {
      return earlier;
    }
    var main =
        programAdapter
            .mainArgument(permissionAsked.tool())
            .map(name -> permissionAsked.arguments().path(name))
            .filter(JsonNode::isString)
            .map(JsonNode::asString)
            .orElse(null);
    var permission =
        settings
            .policy()
            .permissionFor(
                permissionAsked.tool(), permissionAsked.arguments(), main, Permission.ASK);
    return switch (permissionAsked.person() && permission == Permission.ALLOW
        ? Permission.ASK
        : permission) {
      case ALLOW -> new ApprovalDecision.Allowed(permissionAsked.arguments());
      case DENY -> new ApprovalDecision.Denied("this agent may not call " + permissionAsked.tool());
      case ASK -> ask(permissionAsked, call, hash, permissionQuestions);
    };
  }

  private ApprovalDecision ask(
      ProgramEvent.PermissionAsked permissionAsked,
      Optional<ToolCallId> call,
      String hash,
      PermissionQuestions permissionQuestions)
      throws InterruptedException {
    var before = taskRun.inspect(state -> state.head());
    var id = new InputId(taskRun.sources().ids().get());
    taskRun.emit(List.of(question(id, permissionAsked, call, hash)));
    try {
      var vain = permissionQuestions.beginWait(id, permissionAsked.request());
      if (vain != null) {
        lapse(id, vain);
      }
      var end =
          taskRun.waitFor(
              new TaskStatus(TaskState.WAITING_INPUT, null, StatusFacts.ofWaiting(List.of(id))),
              before,
              entry -> answers(entry, id));
      taskRun.emit(List.of(delivered(id)));
      if (end.event() instanceof InputReceived received) {
        return decisionOf(received.value(), permissionAsked.arguments());
      }
      return reason(end).equals(WITHDRAWN)
          ? new ApprovalDecision.Withdrawn()
          : new ApprovalDecision.Denied("this call was not approved: " + reason(end));
    } finally {
      permissionQuestions.endWait();
    }
  }

  /// A checkpoint which records that the result of a question is about to be sent to the program.
  static InternalCheckpoint delivered(InputId id) {
    var state = Json.object();
    state.putObject(CliEventWriter.STATE).put(DELIVERED, id.value());
    return new InternalCheckpoint(0, state);
  }

  private static boolean answers(Entry entry, InputId id) {
    return (entry.event() instanceof InputReceived received && received.inputId().equals(id))
        || (entry.event() instanceof InputLapsed lapsed && lapsed.inputId().equals(id));
  }

  private static String reason(Entry end) {
    return end.event() instanceof InputLapsed lapsed && lapsed.reason() != null
        ? lapsed.reason()
        : "there was no answer";
  }

  /// Converts an answer to a decision.
  public static ApprovalDecision.FinalDecision decisionOf(
      @Nullable JsonNode value, ObjectNode arguments) {
    if (value == null) {
      return new ApprovalDecision.Denied("a person denied this call");
    }
    if (!(value.isBoolean() ? value.asBoolean() : value.path("approved").asBoolean(false))) {
      var reason = value.path("reason").asString("");
      return new ApprovalDecision.Denied(
          reason.isBlank() ? "a person denied this call" : "a person denied this call: " + reason);
    }
    return new ApprovalDecision.Allowed(
        value.path("arguments") instanceof ObjectNode edited ? edited : arguments);
  }

  private InputRequired question(
      InputId id,
      ProgramEvent.PermissionAsked permissionAsked,
      Optional<ToolCallId> call,
      String hash) {
    var metadata = Json.object();
    QuestionFacts.putPurpose(metadata, QuestionPurpose.APPROVAL);
    QuestionFacts.putToolCall(
        metadata,
        new QuestionFacts.AskedCall(
            call.map(ToolCallId::value).orElse(null),
            permissionAsked.tool(),
            permissionAsked.arguments()));
    call.ifPresent(known -> QuestionFacts.putToolCallId(metadata, known));
    if (!permissionAsked.reply().acceptsEditedArguments()) {
      QuestionFacts.putArgumentsSchema(
          metadata, Json.object().set("const", permissionAsked.arguments()));
    }
    QuestionFacts.putHash(metadata, hash, "at-most-once");
    QuestionFacts.putSummary(
        metadata,
        CallSummary.ofExternal(
            permissionAsked.tool(), permissionAsked.arguments(), taskRun.workingDirectory()));
    QuestionFacts.putProvider(metadata, settings.program().wire());
    QuestionFacts.putTimeout(metadata, patience);
    QuestionFacts.putUrgency(metadata, Urgency.of(taskRun.created().priority()));
    return new InputRequired(
        id,
        true,
        InputType.CONFIRMATION,
        VisibleText.of(
            "May " + taskRun.origin().agentId() + " call " + permissionAsked.tool() + "?"),
        null,
        null,
        metadata,
        taskRun.sources().clock().instant().plus(patience));
  }

  private void lapse(InputId asked, String why) {
    try {
      taskRun.emit(
          state ->
              state.openInput(asked).isPresent()
                  ? List.of(new InputLapsed(asked, why))
                  : List.of());
    } catch (Rejection late) {
      // The task has ended, and with it the question.
    }
  }
}
