package dev.parley.door.agents;

import dev.parley.door.AgentType;
import dev.parley.door.DoorParts;
import dev.parley.door.NewContextId;
import dev.parley.door.Request;
import dev.parley.log.Decision;
import dev.parley.log.Draft;
import dev.parley.log.Guard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Accepted;
import dev.parley.task.Submission;
import dev.parley.view.RootView;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Launches agents: each is a root task, in a new or an existing context.
final class Launcher {

  private final DoorParts parts;
  private final AgentLookup agents;
  private final Function<AgentType, Set<String>> honours;

  Launcher(DoorParts parts, AgentLookup agents, Function<AgentType, Set<String>> honours) {
    this.parts = parts;
    this.honours = honours;
    this.agents = agents;
  }

  /// The agent type with this id.
  ///
  /// @throws Rejection.Invalid if there is none; the message lists the known ids
  AgentType type(@Nullable AgentTypeId id) {
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
  RootView launch(Request request, Launch wanted, boolean raw) {
    var type = type(wanted.type());
    var configuration =
        Optional.ofNullable(wanted.configuration()).orElse(Launch.Configuration.NONE);
    configuration.check();
    configuration.checkFor(type, honours.apply(type));
    if (configuration.allowedTools() != null || configuration.customArgs() != null) {
      // These approve actions of the program in advance.
      parts.approvals().person(request).checkApproval();
    }
    var prompt = wanted.prompt();
    if (prompt == null || prompt.isBlank()) {
      throw new Rejection.Invalid("prompt must not be empty");
    }
    var session = configuration.sessionId();
    var context = session == null ? NewContextId.of(request, parts.ids()) : session;
    var options =
        new Submission.Options(
            type.id(),
            null,
            null,
            configuration.timeout(),
            configuration.workingDirectory(),
            null,
            null,
            java.util.List.of(),
            configuration.taskMetadata(raw));
    var submission =
        new Submission(context, request.principal(), prompt, null, options, request.once());
    var name = configuration.conversationName();
    var accepted =
        session == null
            ? begin(request, submission, name)
            : goOn(request.principal(), submission, name);
    return agents.find(request.principal(), accepted.taskId());
  }

  private Accepted begin(Request request, Submission submission, @Nullable String name) {
    // Checked first: a rejected launch must not leave an empty context behind.
    parts.tasks().check(submission);
    var context = submission.context();
    var fresh = parts.log().create(context, new ContextCreated(request.principal(), name, null));
    parts.access().check(request.principal(), context);
    try {
      return parts.tasks().submit(submission);
    } catch (Rejection refused) {
      // A context whose id is derived from an idempotency key stays: a repeated request must find
      // it.
      if (fresh && request.idempotencyKey().isEmpty()) {
        parts.removal().remove(context, request.principal());
      }
      throw refused;
    }
  }

  private Accepted goOn(String principal, Submission submission, @Nullable String name) {
    parts.access().check(principal, submission.context());
    var accepted = parts.tasks().submit(submission);
    if (name != null) {
      rename(submission.context(), name, principal);
    }
    return accepted;
  }

  private void rename(ContextId context, String name, String principal) {
    var updated = new ContextUpdated(name, null, principal);
    parts.log().append(context, Guard.none(), Decision.always(Draft.of(updated)));
  }
}
