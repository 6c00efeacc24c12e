package dev.parley.api.chat;

import dev.parley.api.chat.AgentEvent.AgentEventPayload;
import dev.parley.api.chat.AgentEvent.CancelledPayload;
import dev.parley.api.chat.AgentEvent.CompletedPayload;
import dev.parley.api.chat.AgentEvent.FailedPayload;
import dev.parley.api.chat.AgentEvent.OutputPayload;
import dev.parley.api.chat.AgentEvent.ProgressPayload;
import dev.parley.api.chat.AgentEvent.StartedPayload;
import dev.parley.api.chat.AgentEvent.SubagentStartPayload;
import dev.parley.api.chat.AgentEvent.SubagentStopPayload;
import dev.parley.api.chat.AgentEvent.ToolCallPayload;
import dev.parley.api.chat.AgentEvent.ToolResultPayload;
import dev.parley.api.chat.AgentEventMapper.PrecedingEvents;
import dev.parley.api.chat.ChatEvent.CancelledBody;
import dev.parley.api.chat.ChatEvent.ChatEventBody;
import dev.parley.api.chat.ChatEvent.CompletedBody;
import dev.parley.api.chat.ChatEvent.ConversationBody;
import dev.parley.api.chat.ChatEvent.FailedBody;
import dev.parley.api.chat.ChatEvent.MessageBody;
import dev.parley.api.chat.ChatEvent.ProgressBody;
import dev.parley.api.chat.ChatEvent.RewindData;
import dev.parley.api.chat.ChatEvent.StartedBody;
import dev.parley.api.chat.ChatEvent.SubagentBody;
import dev.parley.api.chat.ChatEvent.TaskCompletedBody;
import dev.parley.api.chat.ChatEvent.ToolBody;
import dev.parley.projection.AnswerSource;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Maps log entries to chat events: none, one, or two where the end of a task is also the end of
/// its message.
///
/// The result depends only on the log before the entry, and on the names of agents.
final class ChatEventMapper {

  static final String SUBAGENT_OUTPUT = "subagent_output";

  private final AgentEventMapper agents;
  private final PrecedingEvents past;
  private final AnswerSource answers;

  ChatEventMapper(AgentEventMapper agents, PrecedingEvents past, AnswerSource answers) {
    this.agents = agents;
    this.past = past;
    this.answers = answers;
  }

  /// The chat events of an entry, in order.
  List<ChatEvent> of(Entry entry) {
    if (entry.event().internal()) {
      return List.of();
    }
    if (entry.event() instanceof MessageEvent event) {
      return message(entry, event).stream().toList();
    }
    if (entry.event() instanceof ContextEvent event) {
      return conversation(entry, event).stream().toList();
    }
    return agents.of(entry).map(this::of).orElse(List.of());
  }

  private static Optional<ChatEvent> message(Entry entry, MessageEvent event) {
    return switch (event) {
      case Message message when message.role() != Role.USER -> Optional.empty();
      case Message message -> Optional.of(userMessage(entry, message));
      case MessageUpdated updated ->
          Optional.of(
              event(
                  "message_updated",
                  entry,
                  new MessageBody(updated.messageId(), null, updated.content(), null)));
      case MessageDeleted deleted ->
          Optional.of(
              event(
                  "message_deleted",
                  entry,
                  new MessageBody(deleted.messageId(), null, null, null)));
    };
  }

  /// A message that starts a task, or one that is sent to a running task.
  private static ChatEvent userMessage(Entry entry, Message message) {
    var task = entry.taskId() == null ? message.facts().taskId().orElse(null) : null;
    return message.facts().steers()
        ? event(
            "task_progress",
            entry,
            new MessageBody(message.messageId(), task, "Sent to the running task", "steer"))
        : event("started", entry, new MessageBody(message.messageId(), task, null, null));
  }

  private static Optional<ChatEvent> conversation(Entry entry, ContextEvent event) {
    return switch (event) {
      case ContextUpdated updated ->
          Optional.of(
              event(
                  "conversation_updated",
                  entry,
                  new ConversationBody(updated.title(), null, null)));
      case ContextRewound rewound ->
          Optional.of(
              event(
                  "conversation_rewound",
                  entry,
                  new ConversationBody(
                      null, rewound.beforeMessageId(), new RewindData(rewound.toSeq()))));
      case ContextCreated _, ContextForked _, StateUpdated _ -> Optional.empty();
    };
  }

  /// An event of a conversation, which no agent caused.
  private static ChatEvent event(String type, Entry entry, ChatEventBody body) {
    return event(type, entry, null, body);
  }

  private static ChatEvent event(
      String type, Entry entry, @Nullable String agent, ChatEventBody body) {
    var origin = entry.origin();
    return new ChatEvent(
        type,
        entry.contextId(),
        entry.taskId(),
        origin == null ? null : origin.parentTaskId(),
        entry.eventId(),
        entry.timestamp(),
        agent,
        body);
  }

  private List<ChatEvent> of(AgentEvent event) {
    var entry = event.entry();
    var root = entry.origin() == null || entry.origin().parentTaskId() == null;
    return switch (event.payload()) {
      case StartedPayload started ->
          List.of(event(event, new StartedBody(started.agentName(), started.prompt(), started)));
      case ProgressPayload(var message, var percentage, var stage, var metadata) ->
          List.of(event(event, new ProgressBody(message, percentage, stage, metadata)));
      case OutputPayload output -> {
        var shown = event(event, output);
        yield List.of(answers.isAnswer(entry) ? shown : shown.withType(SUBAGENT_OUTPUT));
      }
      case ToolCallPayload call -> List.of(event(event, new ToolBody(call.tool(), call)));
      case ToolResultPayload result -> List.of(event(event, new ToolBody(result.tool(), result)));
      case SubagentStartPayload start ->
          List.of(subagent(event, start.taskId(), start.agentId(), start.agentName(), start));
      case SubagentStopPayload stop ->
          List.of(subagent(event, stop.taskId(), stop.agentId(), stop.agentName(), stop));
      case CompletedPayload completed -> {
        var end = event(event, new TaskCompletedBody(completed.result(), completed));
        yield root ? List.of(end, completed(event, completed)) : List.of(end);
      }
      case FailedPayload failed -> {
        var end = event(event, failed(failed, root ? past.answer(entry) : Optional.empty()));
        // `task_failed` is an alias of `error`, because `EventSource` has its own event `error`.
        yield root ? List.of(end, end.withType("error")) : List.of(end);
      }
      case CancelledPayload cancelled ->
          List.of(event(event, cancelled(cancelled, root ? past.answer(entry) : Optional.empty())));
    };
  }

  private static ChatEvent event(AgentEvent event, ChatEventBody body) {
    return event(event.payload().type().ofChat(), event.entry(), event.agentId(), body);
  }

  /// The ids are those of the sub-agent, and the parent is the task of the event.
  private static ChatEvent subagent(
      AgentEvent event,
      TaskId task,
      @Nullable AgentTypeId agent,
      @Nullable String agentName,
      AgentEventPayload payload) {
    var entry = event.entry();
    var nested = Optional.ofNullable(entry.origin()).map(Origin::parentTaskId).isPresent();
    return new ChatEvent(
        payload.type().ofChat(),
        entry.contextId(),
        task,
        nested ? entry.taskId() : null,
        entry.eventId(),
        entry.timestamp(),
        agent == null ? event.agentId() : agent.value(),
        new SubagentBody(nested ? null : entry.taskId(), agentName, payload));
  }

  /// The answer precedes the end of its task in the log, so it is in every history.
  private ChatEvent completed(AgentEvent event, CompletedPayload completed) {
    var entry = event.entry();
    var answer = past.answer(entry);
    var author =
        entry.event() instanceof TaskComplete complete
            ? ChatTaskResults.answerAuthor(complete.facts()).orElse(event.agentId())
            : event.agentId();
    return event(
        "completed",
        entry,
        author,
        new CompletedBody(
            answer.map(Message::messageId).orElse(null),
            answer.map(message -> metadata(message, completed.usage())).orElse(null),
            completed.result()));
  }

  private static ObjectNode metadata(Message answer, @Nullable ObjectNode usage) {
    var metadata = answer.metadata() == null ? Json.object() : answer.metadata().deepCopy();
    Json.putPresent(metadata, "usage", usage);
    return metadata;
  }

  /// The text that was written until then stays in the history, as a partial answer.
  private static FailedBody failed(FailedPayload failed, Optional<Message> partial) {
    return new FailedBody(
        failed.error(),
        failed.code(),
        failed.recoverable(),
        failed,
        partial.map(Message::messageId).orElse(null),
        partial.map(Message::content).orElse(null),
        partial.isPresent() ? true : null);
  }

  private static CancelledBody cancelled(CancelledPayload cancelled, Optional<Message> partial) {
    return new CancelledBody(
        cancelled,
        partial.map(Message::messageId).orElse(null),
        partial.map(Message::content).orElse(null),
        partial.isPresent() ? true : null);
  }
}
