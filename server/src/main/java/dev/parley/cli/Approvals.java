package dev.parley.cli;

import dev.parley.agent.Questions;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.VisibleText;
import dev.parley.task.Asked;
import dev.parley.task.Run;
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

  /// Key in the metadata of a question: the purpose of the question.
  public static final String PURPOSE = "purpose";

  static final String GONE = "the program that asked has ended";
  private static final String WITHDRAWN = "the program no longer asks for it";
  private static final int WITHDRAWN_MAX = 1_000;

  /// The result of a question.
  public sealed interface Verdict {

    /// A decision that is sent to the program.
    sealed interface Given extends Verdict {}

    /// The call may be made, with these arguments.
    record Allowed(ObjectNode arguments) implements Given {}

    /// The call may not be made.
    record Denied(String reason) implements Given {}

    /// The program has withdrawn the question.
    record Withdrawn() implements Verdict {}
  }

  private final Run run;
  private final CliSettings settings;
  private final Dialect dialect;
  private final Duration patience;
  private final Map<String, Verdict> granted = new HashMap<>();

  /// Tracks the questions of one run of the program. A question lapses when the program ends or
  /// withdraws it. The lock guards all fields.
  final class Caller {

    private boolean gone;
    private @Nullable InputId open;
    private @Nullable String request;
    private final SequencedSet<String> withdrawn = new LinkedHashSet<>();

    /// Records that the program has ended. Any thread may call this.
    void leave() {
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

    private synchronized boolean gone() {
      return gone;
    }

    private synchronized boolean withdrew(String question) {
      return withdrawn.contains(question);
    }

    /// Records that the run now waits for this question. Returns the reason if the question must
    /// lapse at once, because the program has withdrawn it or has ended; null otherwise.
    private synchronized @Nullable String waitsFor(InputId asked, String question) {
      open = asked;
      request = question;
      return withdrawn.contains(question) ? WITHDRAWN : gone ? GONE : null;
    }

    private synchronized void waitsNoMore() {
      open = null;
      request = null;
    }
  }

  Approvals(Run run, CliSettings settings, Dialect dialect, Duration patience) {
    this.run = run;
    this.settings = settings;
    this.dialect = dialect;
    this.patience = patience;
  }

  /// Records a decision that was made before the program was started again.
  void grant(String hash, Verdict verdict) {
    granted.put(hash, verdict);
  }

  /// Decides, and returns when the decision can be sent to the program.
  Verdict decide(Said.Asked asked, Optional<ToolCallId> call, Caller caller)
      throws InterruptedException {
    if (caller.gone()) {
      return new Verdict.Denied(GONE);
    }
    if (caller.withdrew(asked.request())) {
      return new Verdict.Withdrawn();
    }
    var hash = Questions.hash(asked.tool(), asked.arguments());
    var earlier = granted.remove(hash);
    if (earlier != null) {
      return earlier;
    }
    var main =
        dialect
            .mainArgument(asked.tool())
            .map(name -> asked.arguments().path(name))
            .filter(JsonNode::isString)
            .map(JsonNode::asString)
            .orElse(null);
    var permission = settings.policy().of(asked.tool(), asked.arguments(), main, Permission.ASK);
    return switch (asked.person() && permission == Permission.ALLOW ? Permission.ASK : permission) {
      case ALLOW -> new Verdict.Allowed(asked.arguments());
      case DENY -> new Verdict.Denied("this agent may not call " + asked.tool());
      case ASK -> ask(asked, call, hash, caller);
    };
  }

  private Verdict ask(Said.Asked asked, Optional<ToolCallId> call, String hash, Caller caller)
      throws InterruptedException {
    var before = run.inspect(state -> state.head());
    var id = new InputId(run.sources().ids().get());
    run.emit(List.of(question(id, asked, call, hash)));
    try {
      var vain = caller.waitsFor(id, asked.request());
      if (vain != null) {
        lapse(id, vain);
      }
      var end =
          run.rest(
              new TaskStatus(TaskState.WAITING_INPUT, null, waiting(List.of(id))),
              before,
              entry -> answers(entry, id));
      run.emit(List.of(delivered(id)));
      if (end.event() instanceof InputReceived received) {
        return verdict(received.value(), asked.arguments());
      }
      return reason(end).equals(WITHDRAWN)
          ? new Verdict.Withdrawn()
          : new Verdict.Denied("this call was not approved: " + reason(end));
    } finally {
      caller.waitsNoMore();
    }
  }

  /// The status metadata of a task that waits for these answers.
  static ObjectNode waiting(List<InputId> asked) {
    var waiting = Json.object().put("blockedBy", "user");
    var ids = waiting.putArray("inputIds");
    asked.forEach(id -> ids.add(id.value()));
    return waiting;
  }

  /// A checkpoint which records that the result of a question is about to be sent to the program.
  static InternalCheckpoint delivered(InputId id) {
    var state = Json.object();
    state.putObject(Narrator.STATE).put(DELIVERED, id.value());
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
  public static Verdict.Given verdict(@Nullable JsonNode value, ObjectNode arguments) {
    if (value == null) {
      return new Verdict.Denied("a person denied this call");
    }
    if (!(value.isBoolean() ? value.asBoolean() : value.path("approved").asBoolean(false))) {
      var reason = value.path("reason").asString("");
      return new Verdict.Denied(
          reason.isBlank() ? "a person denied this call" : "a person denied this call: " + reason);
    }
    return new Verdict.Allowed(
        value.path("arguments") instanceof ObjectNode edited ? edited : arguments);
  }

  private InputRequired question(
      InputId id, Said.Asked asked, Optional<ToolCallId> call, String hash) {
    var metadata = Json.object().put(PURPOSE, "approval");
    var about = metadata.putObject("toolCall");
    call.ifPresent(
        known -> {
          metadata.put(Asked.TOOL_CALL_ID, known.value());
          about.put(Asked.TOOL_CALL_ID, known.value());
        });
    about.put("toolName", asked.tool()).set("arguments", asked.arguments());
    if (!asked.reply().edits()) {
      metadata.putObject(Asked.ARGUMENTS_SCHEMA).set("const", asked.arguments());
    }
    metadata.put(Questions.HASH, hash).put("effect", "at-most-once");
    metadata.put(
        Questions.SUMMARY,
        CallSummary.ofForeign(asked.tool(), asked.arguments(), run.workingDirectory()));
    metadata.put("provider", settings.program().wire()).put("timeout", patience.toSeconds());
    metadata.put(Urgency.KEY, Urgency.of(run.created().priority()).wire());
    return new InputRequired(
        id,
        true,
        InputType.CONFIRMATION,
        VisibleText.of("May " + run.origin().agentId() + " call " + asked.tool() + "?"),
        null,
        null,
        metadata,
        run.sources().clock().instant().plus(patience));
  }

  private void lapse(InputId asked, String why) {
    try {
      run.emit(
          state ->
              state.openInput(asked).isPresent()
                  ? List.of(new InputLapsed(asked, why))
                  : List.of());
    } catch (Rejection late) {
      // The task has ended, and with it the question.
    }
  }
}
