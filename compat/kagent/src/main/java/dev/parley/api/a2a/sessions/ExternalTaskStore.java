package dev.parley.api.a2a.sessions;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aTask;
import dev.parley.api.ApiDependencies;
import dev.parley.api.a2a.KagentMetadata;
import dev.parley.identity.Caller;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Stores external tasks, and deletes tasks.
///
/// Storing a task appends an event. When an external task has ended, its messages and the task are
/// also written to the log, so that every API shows them; until then only this API does. A task
/// that ran on this server cannot be replaced.
final class ExternalTaskStore {

  private static final int HISTORY_MAX = 1_000;
  private static final int PAGE = 1_000;
  private static final int ATTEMPTS_MAX = 10;

  private final ApiDependencies parts;
  private final AgentReferences agents;

  ExternalTaskStore(ApiDependencies parts) {
    this.parts = parts;
    this.agents = new AgentReferences(parts.agentTypes());
  }

  /// The context of a task, external or not.
  Optional<ContextId> contextOf(TaskId task) {
    return parts.views().contextOf(task).or(() -> parts.views().storedTasks().contextOf(task));
  }

  /// Reads the task to store. Adds a missing id, and removes partial messages.
  A2aTask read(ObjectNode body) {
    var json = body.deepCopy();
    if (json.path("id").asString("").isEmpty()) {
      json.put("id", parts.ids().get().toString());
    }
    if (!(json.path("status") instanceof ObjectNode)) {
      json.putObject("status").put("state", "unknown");
    }
    var task = A2aParser.task(json, "");
    if (!Id.valid(task.id()) || !Id.valid(task.contextId())) {
      throw Id.rejection(Id.valid(task.id()) ? "contextId" : "id");
    }
    var history = task.history() == null ? List.<A2aMessage>of() : task.history();
    if (history.size() > HISTORY_MAX) {
      throw new Rejection.TooLarge(
          "content-too-long", "a stored task has at most " + HISTORY_MAX + " messages");
    }
    var whole = history.stream().filter(message -> !isPartial(message)).toList();
    for (var message : whole) {
      if (!Id.valid(message.messageId())) {
        throw Id.rejection("messageId");
      }
    }
    return task.with(
        task.artifacts(), whole.stream().map(message -> withInvocation(task, message)).toList());
  }

  private static boolean isPartial(A2aMessage message) {
    var metadata = message.metadata();
    return metadata != null
        && (metadata.path("kagent_adk_partial").asBoolean(false)
            || metadata.path("adk_adk_partial").asBoolean(false));
  }

  /// Adds the invocation id to a message, if it is missing.
  private static A2aMessage withInvocation(A2aTask task, A2aMessage message) {
    var metadata = message.metadata() == null ? Json.object() : message.metadata().deepCopy();
    if (!metadata.has(KagentMetadata.INVOCATION) && !metadata.has("adk_invocation_id")) {
      metadata.put(KagentMetadata.INVOCATION, task.id());
    }
    return new A2aMessage(
        message.messageId(),
        task.contextId(),
        task.id(),
        message.role(),
        message.parts(),
        metadata,
        message.extensions(),
        message.referenceTaskIds());
  }

  /// Creates the task's session if it does not exist. An existing session may belong to another
  /// user.
  ///
  /// @throws Rejection.Conflict if the task belongs to another session
  void createSession(Caller caller, @Nullable String user, A2aTask task) {
    var context = new ContextId(task.contextId());
    var id = new TaskId(task.id());
    if (contextOf(id).filter(other -> !other.equals(context)).isPresent()) {
      throw conflict("another session already has a task with this id: " + id);
    }
    var metadata = KagentSession.metadata(null, null, user, null);
    try {
      parts
          .access()
          .create(caller, context, new ContextCreated(caller.principal(), null, metadata));
    } catch (Rejection.NotFound another) {
      throw conflict("the session belongs to another user");
    }
  }

  /// Stores the task in its session, and its messages once it has ended.
  ///
  /// @throws Rejection.Conflict if the task was deleted or rewound, or ran on this server
  void save(A2aTask task, String principal) {
    var context = new ContextId(task.contextId());
    var id = new TaskId(task.id());
    for (var attempt = 1; ; attempt++) {
      // The drafts depend on the current log: if it changed in the meantime, compute them again.
      var head = parts.log().head(context);
      var drafts = drafts(context, id, task, principal);
      if (drafts.isEmpty()) {
        return;
      }
      try {
        parts
            .log()
            .append(
                context,
                new AppendGuard.ExpectedHead(head),
                Decision.always(drafts.toArray(EventDraft[]::new)));
        return;
      } catch (Rejection.Stale movedOn) {
        if (attempt == ATTEMPTS_MAX) {
          throw movedOn;
        }
      }
    }
  }

  private List<EventDraft> drafts(ContextId context, TaskId id, A2aTask task, String principal) {
    var storedTaskHistory = parts.views().storedTasks().history(context, id);
    if (storedTaskHistory.removed()) {
      throw conflict("the task was deleted, and its id cannot be used again: " + id);
    }
    var entered = parts.views().turnPosition(context, id).isPresent();
    if (entered && !storedTaskHistory.stored()) {
      checkSame(context, id, task);
      return List.of();
    }
    if (storedTaskHistory.stored() && parts.views().storedTasks().find(context, id).isEmpty()) {
      throw conflict("the task was removed by a rewind: " + id);
    }
    var origin = Origin.root(id, agent(task));
    var drafts = new ArrayList<EventDraft>();
    if (task.status().state().terminal()) {
      var fresh = newMessages(context, task);
      if (entered) {
        fresh.forEach(
            message -> drafts.add(EventDraft.of(importedMessage(task, message, principal))));
      } else {
        importTask(drafts, origin, task, fresh, principal);
      }
    }
    drafts.add(new EventDraft(origin, new TaskStored(A2aEncoders.V0_3.task(task), principal)));
    return drafts;
  }

  /// A task that ran on this server may be stored again only without new user messages.
  private void checkSame(ContextId context, TaskId id, A2aTask task) {
    var strange =
        history(task).stream()
            .filter(message -> message.role() == A2aRole.USER)
            .anyMatch(message -> !isKnown(context, message));
    if (strange) {
      throw conflict("the task ran on this server, and its record cannot be replaced: " + id);
    }
  }

  private static List<A2aMessage> history(A2aTask task) {
    return task.history() == null ? List.of() : task.history();
  }

  /// The messages that are not in the log yet: tasks repeat the messages of earlier tasks.
  private List<A2aMessage> newMessages(ContextId context, A2aTask task) {
    return history(task).stream().filter(message -> !isKnown(context, message)).toList();
  }

  private boolean isKnown(ContextId context, A2aMessage message) {
    return parts.views().turnPosition(context, new MessageId(message.messageId())).isPresent();
  }

  /// Adds the whole life of the task in one append, because no agent here ever runs it.
  private static void importTask(
      List<EventDraft> drafts,
      Origin origin,
      A2aTask task,
      List<A2aMessage> fresh,
      String principal) {
    var first =
        fresh.isEmpty() || fresh.getFirst().role() != A2aRole.USER ? null : fresh.getFirst();
    if (first != null) {
      drafts.add(EventDraft.of(importedMessage(task, first, principal)));
    }
    var created =
        new TaskCreated(
            Initiator.USER,
            TaskFacts.ofImported(),
            first == null ? null : new MessageId(first.messageId()),
            first == null ? null : text(first),
            null,
            null,
            null,
            null);
    drafts.add(new EventDraft(origin, created));
    drafts.add(new EventDraft(origin, new TaskStatus(TaskState.WORKING, null, null)));
    var answer = "";
    for (var message : fresh.subList(first == null ? 0 : 1, fresh.size())) {
      var byUser = message.role() == A2aRole.USER;
      drafts.add(
          byUser
              ? EventDraft.of(importedMessage(task, message, principal))
              : new EventDraft(origin, importedMessage(task, message, principal)));
      answer = byUser ? answer : text(message);
    }
    switch (task.status().state()) {
      case COMPLETED -> {
        drafts.add(new EventDraft(origin, new TaskStatus(TaskState.COMPLETED, null, null)));
        drafts.add(new EventDraft(origin, new TaskComplete(answer, null, null)));
      }
      case CANCELED -> drafts.add(new EventDraft(origin, end(TaskState.CANCELED, task)));
      default -> drafts.add(new EventDraft(origin, end(TaskState.FAILED, task)));
    }
  }

  private static TaskStatus end(TaskState state, A2aTask task) {
    var said = task.status().message();
    return new TaskStatus(state, said == null ? null : text(said), null);
  }

  private static Message importedMessage(A2aTask task, A2aMessage message, String principal) {
    var words =
        message.parts().size() == 1
            && message.parts().getFirst().content() instanceof A2aPart.TextContent;
    return new Message(
        new MessageId(message.messageId()),
        message.role() == A2aRole.USER ? Role.USER : Role.ASSISTANT,
        text(message),
        words ? null : message.parts().stream().<JsonNode>map(A2aEncoders.V1_0::part).toList(),
        MessageFacts.ofImported(new TaskId(task.id())),
        principal);
  }

  private static String text(A2aMessage message) {
    return message.parts().stream()
        .map(
            part ->
                switch (part.content()) {
                  case A2aPart.TextContent(var words) -> words;
                  case A2aPart.DataContent(var value) -> value.toString();
                  case A2aPart.UrlContent(var url) -> url;
                  case A2aPart.RawContent _ ->
                      part.filename() == null ? "a file" : "the file " + part.filename();
                })
        .collect(Collectors.joining("\n"));
  }

  /// The agent that ran the task, or the default agent.
  private AgentTypeId agent(A2aTask task) {
    var metadata = task.metadata();
    var name = metadata == null ? "" : metadata.path("kagent_app_name").asString("");
    try {
      return agents.find(name);
    } catch (Rejection.NotFound elsewhere) {
      return Id.valid(name) ? new AgentTypeId(name) : parts.defaultAgent();
    }
  }

  /// Removes a task from all lists and deletes its messages from view. The log keeps all events,
  /// and the id cannot be used again.
  void delete(ContextId context, TaskId task, String principal) {
    var view = parts.views().task(context, task);
    var origin = Origin.root(task, view.isPresent() ? view.get().agentId() : parts.defaultAgent());
    var hidden = new ArrayList<EventDraft>();
    String cursor = "0";
    while (cursor != null) {
      var resultPage = parts.views().messages(context, Long.parseLong(cursor), PAGE);
      resultPage.items().stream()
          .filter(message -> task.equals(message.taskId()))
          .forEach(
              message ->
                  hidden.add(EventDraft.of(new MessageDeleted(message.messageId(), principal))));
      cursor = resultPage.nextCursor();
    }
    parts
        .log()
        .append(
            context,
            AppendGuard.none(),
            state -> {
              if (state.openTask(task).isPresent()) {
                throw new Rejection.Conflict(
                    "busy", "the task is running; cancel it before you delete it: " + task);
              }
              var drafts = new ArrayList<>(hidden);
              drafts.add(new EventDraft(origin, new TaskDeleted("deleted", principal)));
              return drafts;
            });
  }

  private static Rejection conflict(String message) {
    return new Rejection.Conflict("task-exists", message);
  }
}
