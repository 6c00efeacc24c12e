package dev.parley.api.mcp;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.api.mcp.ElicitationForm.ElicitedQuestion;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.projection.TurnPosition;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.ProjectedStream;
import dev.parley.task.Submission;
import dev.parley.task.TaskResumption;
import dev.parley.task.TaskResumption.GivenAnswer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.NullNode;

/// Calls agents: starts their tasks, streams them, passes answers to them and cancels them.
///
/// A call without a context gets one whose id is derived from the session and the request. So a
/// repeated request is the same call, and a cancellation finds it. For many threads; the monitor of
/// `recent` guards it.
final class AgentCalls {

  private static final int READ = 1_000;
  private static final int RECENT_MAX = 10_000;
  private static final String NO_SUCH_QUESTION = "this question is not open";

  private final ApiDependencies parts;

  /// The tasks of recent calls that named a context, so that they can be canceled.
  private final Map<String, RecentCall> recent = new LinkedHashMap<>();

  private record RecentCall(ContextId context, TaskId root) {}

  AgentCalls(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A request to call an agent.
  ///
  /// @param id the id of the request
  /// @param progressToken missing if the client wants no progress
  record CallRequest(
      Request http,
      McpSessionId session,
      JsonNode id,
      JsonNode progressToken,
      AgentTypeId agent,
      String message,
      @Nullable ContextId context) {

    /// Names the request among all requests of the principal.
    String key() {
      return "mcp/" + session.value() + "/" + id;
    }
  }

  /// Starts or continues a task, and streams the call.
  Reply call(CallRequest request) {
    parts.access().checkAgent(request.http().caller(), request.agent());
    var context =
        request.context() != null ? request.context() : derived(request.http(), request.key());
    var open = request.context() == null ? Optional.<TaskId>empty() : open(request, context);
    var call =
        open.flatMap(root -> resume(request, context, root))
            .orElseGet(() -> submit(request, context));
    if (request.context() != null) {
      remember(request.http().principal() + "/" + request.key(), call);
    }
    return stream(call, null);
  }

  /// The id of the context of a call that names none. A client without a session may use the same
  /// request id again, so its calls are all different.
  private ContextId derived(Request http, String key) {
    return McpSessionId.of(http.header(McpRoutes.SESSION).orElse("")).value().isEmpty()
        ? new ContextId(parts.ids().get().toString())
        : ContextIdGenerator.of(http.principal(), key);
  }

  private void remember(String key, AgentCall call) {
    synchronized (recent) {
      recent.put(key, new RecentCall(call.context(), call.root()));
      if (recent.size() > RECENT_MAX) {
        recent.remove(recent.keySet().iterator().next());
      }
    }
  }

  /// The root task of the context that has started and not ended.
  private Optional<TaskId> open(CallRequest request, ContextId context) {
    parts.access().check(request.http().caller(), Action.WRITE, context);
    return parts
        .log()
        .inspect(
            context,
            state ->
                state.openTasks().stream()
                    .filter(task -> task.origin().parentTaskId() == null && task.started())
                    .map(task -> task.origin().taskId())
                    .findFirst());
  }

  /// Answers the question of a task that waits, or follows a task if there is no message. Empty if
  /// the message is for a new task.
  private Optional<AgentCall> resume(CallRequest request, ContextId context, TaskId root) {
    var from = parts.log().head(context);
    if (request.message().isBlank()) {
      // The stream begins at the start, so that it shows a question that is open already.
      return Optional.of(agentCall(request, context, root, start(context, root)));
    }
    var state = fold(context, root, from);
    if (!state.paused()) {
      return Optional.empty();
    }
    var question =
        state.questions().stream()
            .filter(one -> one.input() != null && !ElicitationForm.isApproval(one.input()))
            .findFirst()
            .orElseThrow(
                () ->
                    new Rejection.Forbidden(
                        "approval-not-allowed",
                        "the agent waits for an approval or a sign-in, which only a person can"
                            + " give: on the page of the server, in a terminal, or in a client that"
                            + " supports elicitation"));
    var input = question.input();
    if (input != null) {
      var value = ElicitationForm.value(input, request.message());
      var given = new GivenAnswer(question.id(), value, null, null);
      // The text comes from a program, so it is not the answer of a person.
      parts
          .tasks()
          .resume(
              new TaskResumption(
                  context,
                  parts.approvals().agent(request.http()),
                  List.of(given),
                  null,
                  AppendGuard.none()),
              _ -> {});
    }
    return Optional.of(agentCall(request, context, root, from));
  }

  private static AgentCall agentCall(
      CallRequest request, ContextId context, TaskId root, Position from) {
    return new AgentCall(
        context, root, from, request.id(), request.progressToken(), request.session().elicits());
  }

  private AgentCall submit(CallRequest request, ContextId context) {
    var caller = request.http().caller();
    var submission =
        new Submission(
            context,
            request.http().principal(),
            request.message(),
            null,
            new Submission.TaskOptions(request.agent(), null, null, null, null, null, null),
            request.session().value().isEmpty()
                ? AppendGuard.none()
                : new AppendGuard.IdempotencyKey(
                    request.http().principal(), request.key(), request.http().bodyHash()));
    if (!parts.access().mayUse(caller, Action.WRITE, context)) {
      // Checked first: a rejected message must not leave an empty context behind.
      parts.tasks().check(submission);
      parts
          .access()
          .create(caller, context, new ContextCreated(request.http().principal(), null, null));
    }
    var accepted = parts.tasks().submit(submission);
    return agentCall(request, context, accepted.taskId(), start(context, accepted.taskId()));
  }

  /// The position before a task and its message.
  private Position start(ContextId context, TaskId task) {
    return parts
        .views()
        .turnPosition(context, task)
        .map(TurnPosition::seq)
        .map(seq -> Position.of(seq - 1))
        .orElse(Position.START);
  }

  private AgentCallProjection fold(ContextId context, TaskId root, Position to) {
    var state =
        new AgentCallProjection(
            new AgentCall(
                context, root, to, NullNode.getInstance(), MissingNode.getInstance(), true));
    var position = start(context, root);
    while (to.after(position)) {
      for (var entry : parts.log().read(context, position, READ)) {
        position = entry.position();
        if (position.after(to)) {
          return state;
        }
        state.apply(entry);
      }
    }
    return state;
  }

  /// Continues the stream of a call after the frame with this id.
  Reply resumeStream(Request request, String lastEventId) {
    var cursor = AgentCall.parse(lastEventId);
    var call = cursor.call();
    parts.access().check(request.caller(), Action.READ, call.context());
    var after = FrameCursor.parse(cursor.cursor());
    if (after.position().after(parts.log().head(call.context()))) {
      throw new Rejection.Invalid("cursor-ahead", "the context ends before this event");
    }
    return stream(call, after);
  }

  private Reply stream(AgentCall call, @Nullable FrameCursor after) {
    return new Reply.Stream(
        new ProjectedStream(
            parts.streamDependencies(),
            call.context(),
            start(call.context(), call.root()),
            new AgentCallStream(call, after)));
  }

  /// Passes the answer of a person to the task that asked.
  ///
  /// @param requestId the id of the request that asked
  void answer(Request request, String requestId, JsonNode response) {
    var asked =
        ElicitedQuestion.parse(requestId)
            .orElseThrow(() -> new Rejection.Invalid("no-open-call", NO_SUCH_QUESTION));
    var context =
        parts
            .views()
            .contextOf(asked.root())
            .filter(found -> parts.access().mayUse(request.caller(), Action.WRITE, found))
            .orElseThrow(() -> new Rejection.NotFound(NO_SUCH_QUESTION));
    var question = find(context, asked);
    if (question.isEmpty() || isCompletedElsewhere(question.get(), response)) {
      return;
    }
    var given = ElicitationForm.answer(question.get(), response);
    parts
        .tasks()
        .resume(
            new TaskResumption(
                context,
                parts.approvals().person(request),
                List.of(given),
                null,
                AppendGuard.none()),
            _ -> {});
  }

  /// A sign-in is completed at its address; the client only says that the user went there.
  private static boolean isCompletedElsewhere(OpenQuestion question, JsonNode response) {
    return question.auth() != null
        && response.path("result").path("action").asString("").equals("accept");
  }

  private Optional<OpenQuestion> find(ContextId context, ElicitedQuestion asked) {
    return fold(context, asked.root(), parts.log().head(context)).questions().stream()
        .filter(question -> question.id().value().equals(asked.question()))
        .findFirst();
  }

  /// Cancels the task of a request; nothing happens if there is none.
  void cancel(Request request, McpSessionId session, JsonNode requestId) {
    var key = "mcp/" + session.value() + "/" + requestId;
    RecentCall named;
    synchronized (recent) {
      named = recent.get(request.principal() + "/" + key);
    }
    if (named != null) {
      cancel(request, named.context(), named.root());
      return;
    }
    var context = ContextIdGenerator.of(request.principal(), key);
    if (!session.value().isEmpty()
        && parts.access().mayUse(request.caller(), Action.WRITE, context)) {
      for (var task : parts.views().rootTasks(context, 0, Long.MAX_VALUE)) {
        cancel(request, context, task.taskId());
      }
    }
  }

  private void cancel(Request request, ContextId context, TaskId root) {
    parts.access().check(request.caller(), Action.WRITE, context);
    parts.tasks().cancel(context, root, request.principal(), "canceled by the MCP client");
  }
}
