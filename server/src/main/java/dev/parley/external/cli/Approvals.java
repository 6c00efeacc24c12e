package dev.parley.external.cli;

import dev.parley.agent.QuestionFactory;
import dev.parley.agent.TaskQuestion;
import dev.parley.agent.TaskQuestion.ApprovalDecision;
import dev.parley.auth.SignInRequests;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.TaskRun;
import dev.parley.tool.CallSummary;
import dev.parley.tool.Tool.Permission;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Decides whether a program may make a call: the policy first, then a person.
///
/// For one thread.
final class Approvals {

  /// Key in the state of a checkpoint: the question whose answer is about to be sent to the
  /// program.
  static final String DELIVERED = "delivered";

  static final String GONE = "the program that asked has ended";
  private static final String WITHDRAWN = "the program no longer asks for it";
  private static final int WITHDRAWN_MAX = 1_000;

  private final TaskRun taskRun;
  private final CliSettings settings;
  private final ProgramAdapter programAdapter;
  private final QuestionFactory questions;
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
    this.questions =
        new QuestionFactory(
            taskRun, patience, SignInRequests.passThrough(), settings.program().wire());
  }

  /// Records a decision that was made before the program was started again.
  void grant(String hash, ApprovalDecision approvalDecision) {
    granted.put(hash, approvalDecision);
  }

  /// Decides, and returns when the decision can be sent to the program; empty if the program has
  /// withdrawn the question.
  Optional<ApprovalDecision> decide(
      ProgramEvent.PermissionAsked permissionAsked,
      Optional<ToolCallId> call,
      PermissionQuestions permissionQuestions)
      throws InterruptedException {
    if (permissionQuestions.hasEnded()) {
      return Optional.of(new ApprovalDecision.Denied(GONE));
    }
    if (permissionQuestions.isWithdrawn(permissionAsked.request())) {
      return Optional.empty();
    }
    var tool = permissionAsked.tool();
    var arguments = permissionAsked.arguments();
    var earlier = granted.remove(QuestionFactory.hash(tool, arguments));
    if (earlier != null) {
      return Optional.of(earlier);
    }
    var main =
        programAdapter
            .mainArgument(tool)
            .map(arguments::path)
            .filter(JsonNode::isString)
            .map(JsonNode::asString)
            .orElse(null);
    var permission = settings.policy().permissionFor(tool, arguments, main, Permission.ASK);
    return switch (permissionAsked.person() && permission == Permission.ALLOW
        ? Permission.ASK
        : permission) {
      case ALLOW -> Optional.of(new ApprovalDecision.Allowed(arguments));
      case DENY -> Optional.of(new ApprovalDecision.Denied("this agent may not call " + tool));
      case ASK -> {
        var person = permissionAsked.person() || settings.asksAlways();
        var rule = person ? Optional.<String>empty() : rule(permissionAsked);
        yield rule.isPresent()
            ? Optional.of(new ApprovalDecision.Allowed(arguments))
            : ask(permissionAsked, call.orElse(null), permissionQuestions);
      }
    };
  }

  /// The rule with which the owner of the context always allows this call. Records its use.
  private Optional<String> rule(ProgramEvent.PermissionAsked asked) {
    var hash = QuestionFactory.hash(asked.tool(), asked.arguments());
    var now = taskRun.sources().time().instant();
    var rule = taskRun.controls().rule(taskRun.owner(), taskRun.context(), hash, now);
    rule.ifPresent(
        id ->
            taskRun.emit(
                List.of(
                    new TaskStatus(
                        TaskState.WORKING, null, StatusFacts.ofRule(id, asked.tool())))));
    return rule;
  }

  private Optional<ApprovalDecision> ask(
      ProgramEvent.PermissionAsked permissionAsked,
      @Nullable ToolCallId call,
      PermissionQuestions permissionQuestions)
      throws InterruptedException {
    var before = taskRun.inspect(state -> state.head());
    var asked = question(permissionAsked, call);
    taskRun.emit(List.of(asked));
    try {
      var vain = permissionQuestions.beginWait(asked.inputId(), permissionAsked.request());
      if (vain != null) {
        lapse(asked.inputId(), vain);
      }
      var question = TaskQuestion.await(taskRun, asked, before);
      taskRun.emit(List.of(delivered(asked.inputId())));
      if (question.end() instanceof InputReceived) {
        return Optional.of(question.decision(permissionAsked.arguments()));
      }
      var reason = question.unansweredReason().orElse("");
      return reason.equals(WITHDRAWN)
          ? Optional.empty()
          : Optional.of(new ApprovalDecision.Denied("this call was not approved: " + reason));
    } finally {
      permissionQuestions.endWait();
    }
  }

  /// A checkpoint which records that the result of a question is about to be sent to the program.
  static InternalCheckpoint delivered(InputId id) {
    var state = Json.object();
    state.putObject(ExternalSessions.STATE).put(DELIVERED, id.value());
    return new InternalCheckpoint(0, state);
  }

  private InputRequired question(
      ProgramEvent.PermissionAsked permissionAsked, @Nullable ToolCallId call) {
    var tool = permissionAsked.tool();
    var arguments = permissionAsked.arguments();
    var metadata = Json.object();
    QuestionFactory.putExternalCall(
        metadata,
        call,
        new QuestionFactory.ExternalCall(
            tool,
            arguments,
            permissionAsked.reply().acceptsEditedArguments(),
            CallSummary.ofExternal(tool, arguments, taskRun.workingDirectory())));
    return questions.approval(tool, metadata);
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
