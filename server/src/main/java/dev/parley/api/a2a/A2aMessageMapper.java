package dev.parley.api.a2a;

import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aVersion;
import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.EmptyAnswer;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps events of a root task to A2A messages.
final class A2aMessageMapper {

  /// In the metadata of a message or an answer: its A2A fields beyond the text.
  static final String METADATA_KEY = "a2a";

  private static final String SUBAGENT_SESSION = "kagent_subagent_session_id";

  private final KagentMetadata marks;
  private final A2aVersion version;

  A2aMessageMapper(KagentMetadata marks, A2aVersion version) {
    this.marks = marks;
    this.version = version;
  }

  /// A message of a user or the agent.
  A2aMessage message(Message message) {
    var own = message.role() == Role.USER;
    var kept = message.facts().extension(METADATA_KEY).orElseGet(Json::object);
    return new A2aMessage(
        kept.path("messageId").asString(message.messageId().value()),
        marks.context().value(),
        marks.root().value(),
        own ? A2aRole.USER : A2aRole.AGENT,
        parts(message),
        marks.ofMessage(
            own
                ? metadata(kept)
                : withMarks(
                    metadata(kept),
                    message.facts().earlyEnd().orElse(null),
                    message.facts().emptyAnswer()),
            own ? KagentMetadata.USER : marks.agent().value()),
        texts(kept.path("extensions")),
        texts(kept.path("referenceTaskIds")));
  }

  /// Adds the reason why the answer ended early, if it did, and whether it is empty.
  static @Nullable ObjectNode withMarks(
      @Nullable ObjectNode metadata, @Nullable EarlyEnd end, boolean empty) {
    if (end == null && !empty) {
      return metadata;
    }
    var all = metadata == null ? Json.object() : metadata.deepCopy();
    if (end != null) {
      end.put(all);
    }
    if (empty) {
      EmptyAnswer.put(all);
    }
    return all;
  }

  private static @Nullable ObjectNode metadata(JsonNode kept) {
    return kept.path("metadata") instanceof ObjectNode told ? told : null;
  }

  private static List<A2aPart> parts(Message message) {
    if (message.parts() == null) {
      return List.of(A2aPart.text(message.content()));
    }
    try {
      var parts = new ArrayList<A2aPart>();
      for (var part : message.parts()) {
        parts.add(A2aParser.part(part, "parts"));
      }
      return parts;
    } catch (A2aException ofAnotherApi) {
      return List.of(A2aPart.text(message.content()));
    }
  }

  private static List<String> texts(JsonNode list) {
    return list.valueStream().filter(JsonNode::isString).map(JsonNode::stringValue).toList();
  }

  /// A user's answer.
  A2aMessage answer(Entry entry, InputReceived received) {
    var kept = received.facts().extension(METADATA_KEY).orElseGet(Json::object);
    var id = kept.path("messageId").asString(entry.eventId().toString());
    var parts = new ArrayList<A2aPart>();
    for (var part : kept.path("parts")) {
      parts.add(A2aParser.part(part, "parts"));
    }
    if (parts.isEmpty() && received.value() != null) {
      var value = received.value();
      parts.add(value.isString() ? A2aPart.text(value.stringValue()) : A2aPart.data(value));
    }
    return new A2aMessage(
        id,
        marks.context().value(),
        marks.root().value(),
        A2aRole.USER,
        parts,
        marks.ofMessage(metadata(kept), KagentMetadata.USER),
        texts(kept.path("extensions")),
        List.of());
  }

  /// A tool call.
  A2aMessage toolCall(Entry entry, ToolStart start) {
    var data = call(start.toolCallId().value(), start.toolName(), start.arguments());
    var about = Json.object().put(KagentMetadata.TYPE, "function_call");
    if (start.subagentMetadata() != null && !start.subagentMetadata().taskIds().isEmpty()) {
      var children = start.subagentMetadata().taskIds();
      about.put(SUBAGENT_SESSION, children.getFirst().value());
      var all = about.putArray("kagent_subagent_session_ids");
      children.forEach(child -> all.add(child.value()));
    }
    return agentMessage(entry, List.of(data(data, marks.ofPart(about))), null);
  }

  /// A call that starts a sub-agent.
  ///
  /// @param toolName the name of the tool, if it differs from the name that is shown
  A2aMessage agentCall(Entry entry, ObjectNode data, TaskId child, @Nullable String toolName) {
    var about =
        Json.object()
            .put(KagentMetadata.TYPE, "function_call")
            .put(SUBAGENT_SESSION, child.value());
    Json.putPresent(about, "toolName", toolName);
    return agentMessage(entry, List.of(data(data, marks.ofPart(about))), null);
  }

  /// The result of a sub-agent.
  A2aMessage agentResult(Entry entry, ObjectNode data) {
    var about = Json.object().put(KagentMetadata.TYPE, "function_response");
    return agentMessage(entry, List.of(data(data, marks.ofPart(about))), null);
  }

  /// The result of a tool call.
  A2aMessage toolResult(Entry entry, ToolComplete end) {
    return agentResult(entry, resultData(end));
  }

  static ObjectNode resultData(ToolComplete end) {
    var response = Json.object();
    if (!end.success()) {
      response.put("isError", true);
    }
    if (end.result() != null) {
      response.set("result", end.result());
    } else if (end.error() != null) {
      response.put("result", end.error());
    }
    return result(end.toolCallId().value(), end.toolName(), response);
  }

  private static ObjectNode call(String id, String name, ObjectNode args) {
    var data = Json.object().put("id", id).put("name", name);
    data.set("args", args);
    return data;
  }

  private static ObjectNode result(String id, String name, ObjectNode response) {
    var data = Json.object().put("id", id).put("name", name);
    data.set("response", response);
    return data;
  }

  private static A2aPart data(ObjectNode data, @Nullable ObjectNode about) {
    return new A2aPart(new A2aPart.DataContent(data), null, null, about);
  }

  /// The open questions as one message.
  A2aMessage question(Entry entry, List<OpenQuestion> asked) {
    var text =
        asked.stream().map(A2aMessageMapper::prompt).distinct().collect(Collectors.joining("\n"));
    var parts = new ArrayList<>(List.of(A2aPart.text(text)));
    for (var one : asked) {
      var input = one.input();
      if (one.auth() != null) {
        parts.add(A2aPart.data(signIn(one.auth())));
      }
      if (input != null && !HitlExtension.isApproval(input)) {
        parts.add(A2aPart.data(inputRequest(input)));
      }
      // Clients of 1.0 read the extension instead.
      if (input != null && version == A2aVersion.V0_3 && marks.enabled()) {
        var about = Json.object().put(KagentMetadata.TYPE, "function_call");
        about.put("kagent_is_long_running", true);
        parts.add(data(HitlExtension.confirmation(one.origin(), input, marks.root()), about));
      }
    }
    var request = HitlExtension.request(asked, marks.root());
    var told = Json.object();
    request.ifPresent(
        payload -> {
          told.set(HitlExtension.URI, withContext(payload));
        });
    var message = agentMessage(entry, parts, told);
    return request.isEmpty()
        ? message
        : new A2aMessage(
            message.messageId(),
            message.contextId(),
            message.taskId(),
            message.role(),
            message.parts(),
            message.metadata(),
            List.of(HitlExtension.URI),
            List.of());
  }

  private ObjectNode withContext(ObjectNode payload) {
    if (payload.path("nested") instanceof ObjectNode nested) {
      nested.put("context_id", marks.context().value());
    }
    return payload;
  }

  private static String prompt(OpenQuestion question) {
    if (question.input() != null) {
      return question.input().prompt();
    }
    var asked = Objects.requireNonNull(question.auth());
    return asked.authUrl() == null ? asked.prompt() : asked.prompt() + "\n" + asked.authUrl();
  }

  /// A question with the data that a client needs to show a form, and the values that decline or
  /// skip it.
  private static ObjectNode inputRequest(InputRequired asked) {
    var json =
        Json.object()
            .put(HitlExtension.TYPE, "input_request")
            .put("inputId", asked.inputId().value())
            .put("inputType", asked.inputType().wire())
            .put("prompt", asked.prompt());
    Json.putPresent(json, "schema", asked.schema());
    if (asked.options() != null && !asked.options().isEmpty()) {
      json.putArray("options").addAll(asked.options());
    }
    json.putObject("decline").put("declined", true);
    json.putObject("skip").put("skipped", true);
    return json;
  }

  private static ObjectNode signIn(AuthRequired asked) {
    var json =
        Json.object().put(HitlExtension.TYPE, "auth_request").put("id", asked.authId().value());
    json.put("authType", asked.authType().wire());
    Json.putPresent(json, "provider", asked.provider());
    Json.putPresent(json, "authUrl", asked.authUrl());
    if (asked.scopes() != null) {
      asked.scopes().forEach(json.putArray("scopes")::add);
    }
    return json;
  }

  /// An agent message that explains a status.
  A2aMessage statusMessage(Entry entry, String text, @Nullable String errorCode) {
    var told =
        errorCode == null || !marks.enabled()
            ? null
            : Json.object().put("kagent_error_code", errorCode);
    return agentMessage(entry, List.of(A2aPart.text(text)), told);
  }

  private A2aMessage agentMessage(Entry entry, List<A2aPart> parts, @Nullable ObjectNode told) {
    var author = entry.origin() == null ? marks.agent() : entry.origin().agentId();
    return new A2aMessage(
        entry.eventId().toString(),
        marks.context().value(),
        marks.root().value(),
        A2aRole.AGENT,
        parts,
        marks.ofMessage(told, author.value()));
  }

  /// Maps tool calls that start sub-agents to the messages that kagent clients expect.
  ///
  /// These clients recognize a sub-agent by the separator in the tool's name, and open one session
  /// per call. A call that starts one agent is therefore shown with that agent's name. A call that
  /// starts several agents keeps its own name and is followed by one call per agent, whose id is the
  /// id of the agent's task. Without kagent metadata, all calls are shown unchanged. For one thread.
  static final class SubagentCallMapper {

    private static final String NAME_PREFIX = "default__NS__";

    private final A2aMessageMapper messages;
    private final boolean kagent;
    private final Map<CallKey, StartedSubagent> startedSubagents = new HashMap<>();
    private final Map<TaskId, PendingCall> pendingCalls = new HashMap<>();
    private final Map<TaskId, String> batchNames = new HashMap<>();

    /// A tool call. Its id is unique only within its task.
    private record CallKey(TaskId task, ToolCallId call) {}

    /// A call that starts one agent, before that agent is known.
    private record PendingCall(CallKey key, ToolStart start) {}

    /// A call that started one agent.
    private record StartedSubagent(TaskId child, String name) {}

    SubagentCallMapper(A2aMessageMapper messages, boolean kagent) {
      this.messages = messages;
      this.kagent = kagent;
    }

    /// The message for the start of a call; empty if it follows once the called agent is known.
    Optional<A2aMessage> start(Entry entry, Origin origin, ToolStart start) {
      var subagents = start.subagentMetadata();
      if (!kagent || subagents == null || subagents.taskIds().isEmpty()) {
        return Optional.of(messages.toolCall(entry, start));
      }
      if (subagents.taskIds().size() == 1) {
        var child = subagents.taskIds().getFirst();
        pendingCalls.put(
            child, new PendingCall(new CallKey(origin.taskId(), start.toolCallId()), start));
        return Optional.empty();
      }
      subagents.taskIds().forEach(child -> batchNames.put(child, ""));
      return Optional.of(messages.toolCall(entry, start));
    }

    /// The message for an agent that a call starts.
    Optional<A2aMessage> created(Entry entry, Origin origin, SubtaskCreated created) {
      var child = created.subtaskId();
      var name = name(created.agentId() == null ? origin.agentId() : created.agentId());
      var single = pendingCalls.remove(child);
      if (single != null) {
        var start = single.start();
        startedSubagents.put(single.key(), new StartedSubagent(child, name));
        var data = call(start.toolCallId().value(), name, start.arguments());
        return Optional.of(messages.agentCall(entry, data, child, start.toolName()));
      }
      if (batchNames.replace(child, name) == null) {
        return Optional.empty();
      }
      var data = call(child.value(), name, Json.object().put("request", created.prompt()));
      return Optional.of(messages.agentCall(entry, data, child, null));
    }

    /// The message for the result of one of several agents that a call started.
    Optional<A2aMessage> completed(Entry entry, SubtaskComplete end) {
      var name = batchNames.remove(end.subtaskId());
      if (name == null || name.isEmpty()) {
        return Optional.empty();
      }
      var response = Json.object();
      if (end.status() != TaskState.COMPLETED) {
        response.put("isError", true);
      }
      var text = end.result() == null ? end.error() : end.result();
      response.put("result", text == null ? end.status().wire() : text);
      response.put("subagent_session_id", end.subtaskId().value());
      return Optional.of(
          messages.agentResult(entry, result(end.subtaskId().value(), name, response)));
    }

    /// The message for the end of a call.
    A2aMessage complete(Entry entry, Origin origin, ToolComplete end) {
      var started = startedSubagents.remove(new CallKey(origin.taskId(), end.toolCallId()));
      if (started == null) {
        return messages.toolResult(entry, end);
      }
      var data = A2aMessageMapper.resultData(end).put("name", started.name());
      data.withObject("/response").put("subagent_session_id", started.child().value());
      return messages.agentResult(entry, data);
    }

    private static String name(AgentTypeId agent) {
      return NAME_PREFIX + agent.value().replace('-', '_');
    }
  }
}
