package dev.parley.api.agents;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.http.Request;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.projection.RootTaskView;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Submission;
import dev.parley.task.Submission.MessageLabel;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Launches agents: each is a root task, in a new or an existing context.
final class AgentLauncher {

  private final ApiDependencies parts;
  private final AgentLookup agents;

  AgentLauncher(ApiDependencies parts, AgentLookup agents) {
    this.parts = parts;
    this.agents = agents;
  }

  /// The agent type with this id.
  ///
  /// @throws Rejection.Invalid if there is none; the message lists the known ids
  AgentTypeView type(@Nullable AgentTypeId id) {
    return parts.agentTypes().stream()
        .filter(type -> type.id().equals(id))
        .findFirst()
        .orElseThrow(
            () -> {
              var known =
                  parts.agentTypes().stream()
                      .map(t -> t.id().value())
                      .collect(Collectors.joining(", "));
              return new Rejection.Invalid(
                  "unknown-agent",
                  (id == null ? "type is needed" : "no agent is called " + id)
                      + "; known: "
                      + known);
            });
  }

  /// Appends the agent's prompt to the log and starts the agent. `raw` stores every line of its
  /// program.
  RootTaskView launch(Request request, LaunchRequest wanted, boolean raw) {
    var type = type(wanted.type());
    parts.access().checkAgent(request.caller(), type.id());
    var launchConfiguration =
        Optional.ofNullable(wanted.configuration()).orElse(LaunchRequest.LaunchConfiguration.NONE);
    launchConfiguration.check();
    launchConfiguration.checkFor(type, parts.launchOptions().apply(type.id()).overridable());
    if (launchConfiguration.allowedTools() != null || launchConfiguration.customArgs() != null) {
      // These approve actions of the program in advance.
      parts.approvals().person(request).checkApproval();
    }
    var prompt = wanted.prompt();
    if (prompt == null || prompt.isBlank()) {
      throw new Rejection.Invalid("prompt must not be empty");
    }
    var session = launchConfiguration.sessionId();
    var context = session == null ? ContextIdGenerator.of(request, parts.ids()) : session;
    var taskOptions =
        new Submission.TaskOptions(
            type.id(),
            null,
            null,
            launchConfiguration.timeout(),
            launchConfiguration.workingDirectory(),
            null,
            null,
            java.util.List.of(),
            launchConfiguration.taskMetadata(raw));
    var submission =
        new Submission(
            context,
            request.caller(),
            prompt,
            null,
            taskOptions,
            request.idempotencyGuard(),
            MessageLabel.NONE);
    var name = launchConfiguration.conversationName();
    var acceptedMessage =
        session == null
            ? launchInNewContext(request, submission, name)
            : launchInExistingContext(request, submission, name);
    return agents.find(request.caller(), Action.READ, acceptedMessage.taskId());
  }

  private AcceptedMessage launchInNewContext(
      Request request, Submission submission, @Nullable String name) {
    // Checked first: a rejected launch must not leave an empty context behind.
    parts.tasks().check(submission);
    var context = submission.context();
    var fresh =
        parts
            .access()
            .create(request.caller(), context, new ContextCreated(request.principal(), name, null));
    try {
      return parts.tasks().submit(submission);
    } catch (Rejection refused) {
      // A context whose id is derived from an idempotency key stays: a repeated request must find
      // it.
      if (fresh && request.idempotencyKey().isEmpty()) {
        parts.deletion().delete(context, request.principal());
      }
      throw refused;
    }
  }

  private AcceptedMessage launchInExistingContext(
      Request request, Submission submission, @Nullable String name) {
    parts.access().check(request, submission.context());
    var acceptedMessage = parts.tasks().submit(submission);
    if (name != null) {
      rename(submission.context(), name, request.principal());
    }
    return acceptedMessage;
  }

  private void rename(ContextId context, String name, String principal) {
    var updated = new ContextUpdated(name, null, principal);
    parts.log().append(context, AppendGuard.none(), Decision.always(EventDraft.of(updated)));
  }
}
