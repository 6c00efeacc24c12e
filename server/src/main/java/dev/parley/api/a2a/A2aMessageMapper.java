package dev.parley.api.a2a;

import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aVersion;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.EmptyAnswer;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps events of a root task to A2A messages.
final class A2aMessageMapper {

  /// In the metadata of a message or an answer: its A2A fields beyond the text.
  static final String METADATA_KEY = "a2a";

  private static final String SUBAGENT_SESSION = "kagent_subagent_session_id";

  private final KagentMetadata kagentMetadata;
  private final A2aVersion a2aVersion;

  A2aMessageMapper(KagentMetadata marks, A2aVersion a2aVersion) {
    this.kagentMetadata = marks;
    this.a2aVersion = a2aVersion;
  }

  /// A message of a user or the agent.
  A2aMessage message(Message message) {
    var own = message.role() == Role.USER;
    var kept = message.facts().extension(METADATA_KEY).orElseGet(Json::object);
    return new A2aMessage(
        kept.path("messageId").asString(message.messageId().value()),
        kagentMetadata.context().value(),
        kagentMetadata.root().value(),
        own ? A2aRole.USER : A2aRole.AGENT,
        parts(message),
        kagentMetadata.ofMessage(
            own
                ? metadata(kept)
                : withMarks(
                    metadata(kept),
                    message.facts().earlyEnd().orElse(null),
                    message.facts().emptyAnswer()),
            own ? KagentMetadata.USER : kagentMetadata.agent().value()),
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
    var told = kept.path("metadata") instanceof ObjectNode object ? object : null;
    return new A2aMessage(
        id,
        kagentMetadata.context().value(),
        kagentMetadata.root().value(),
        A2aRole.USER,
        parts,
        kagentMetadata.ofMessage(told, KagentMetadata.USER),
        texts(kept.path("extensions")),
        List.of());
  }

  /// A tool call.
  A2aMessage toolCall(Entry entry, ToolStart start) {
    var data = Json.object().put("id", start.toolCallId().value()).put("name", start.toolName());
    data.set("args", start.arguments());
    var about = Json.object().put(KagentMetadata.TYPE, "function_call");
    if (start.subagentMetadata() != null && !start.subagentMetadata().taskIds().isEmpty()) {
      var children = start.subagentMetadata().taskIds();
      about.put(SUBAGENT_SESSION, children.getFirst().value());
      var all = about.putArray("kagent_subagent_session_ids");
      children.forEach(child -> all.add(child.value()));
    }
    return agentMessage(entry, List.of(data(data, kagentMetadata.ofPart(about))), null);
  }

  /// A call that starts a sub-agent.
  ///
  /// @param toolName the name of the tool, if it differs from the name that is shown
  A2aMessage agentCall(Entry entry, ObjectNode data, TaskId child, @Nullable String toolName) {
    var about =
        Json.object()
            .put(KagentMetadata.TYPE, "function_call")
            .put(SUBAGENT_SESSION, child.value());
    if (toolName != null) {
      about.put("toolName", toolName);
    }
    return agentMessage(entry, List.of(data(data, kagentMetadata.ofPart(about))), null);
  }

  /// The result of a sub-agent.
  A2aMessage agentResult(Entry entry, ObjectNode data) {
    var about = Json.object().put(KagentMetadata.TYPE, "function_response");
    return agentMessage(entry, List.of(data(data, kagentMetadata.ofPart(about))), null);
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
    var data = Json.object().put("id", end.toolCallId().value()).put("name", end.toolName());
    data.set("response", response);
    return data;
  }

  private static A2aPart data(ObjectNode data, @Nullable ObjectNode about) {
    return new A2aPart(new A2aPart.DataContent(data), null, null, about);
  }

  /// The open questions as one message.
  A2aMessage question(Entry entry, List<TaskStateFold.A2aQuestion> asked) {
    var text = asked.stream().map(one -> prompt(one)).distinct().collect(Collectors.joining("\n"));
    var parts = new ArrayList<>(List.of(A2aPart.text(text)));
    for (var one : asked) {
      if (one.event() instanceof AuthRequired auth) {
        parts.add(A2aPart.data(signIn(auth)));
      }
      if (one.event() instanceof InputRequired input && !HitlExtension.isApproval(input)) {
        parts.add(A2aPart.data(inputRequest(input)));
      }
      // Clients of 1.0 read the extension instead.
      if (one.event() instanceof InputRequired input
          && a2aVersion == A2aVersion.V0_3
          && kagentMetadata.enabled()) {
        var about = Json.object().put(KagentMetadata.TYPE, "function_call");
        about.put("kagent_is_long_running", true);
        parts.add(data(HitlExtension.confirmation(one, input, kagentMetadata.root()), about));
      }
    }
    var request = HitlExtension.request(asked, kagentMetadata.root());
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
      nested.put("context_id", kagentMetadata.context().value());
    }
    return payload;
  }

  private static String prompt(TaskStateFold.A2aQuestion a2aQuestion) {
    return switch (a2aQuestion.event()) {
      case InputRequired asked -> asked.prompt();
      case AuthRequired asked ->
          asked.authUrl() == null ? asked.prompt() : asked.prompt() + "\n" + asked.authUrl();
      default -> "";
    };
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
    if (asked.schema() != null) {
      json.set("schema", asked.schema());
    }
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
    if (asked.provider() != null) {
      json.put("provider", asked.provider());
    }
    if (asked.authUrl() != null) {
      json.put("authUrl", asked.authUrl());
    }
    if (asked.scopes() != null) {
      asked.scopes().forEach(json.putArray("scopes")::add);
    }
    return json;
  }

  /// An agent message that explains a status.
  A2aMessage statusMessage(Entry entry, String text, @Nullable String errorCode) {
    var told =
        errorCode == null || !kagentMetadata.enabled()
            ? null
            : Json.object().put("kagent_error_code", errorCode);
    return agentMessage(entry, List.of(A2aPart.text(text)), told);
  }

  private A2aMessage agentMessage(Entry entry, List<A2aPart> parts, @Nullable ObjectNode told) {
    var author = entry.origin() == null ? kagentMetadata.agent() : entry.origin().agentId();
    return new A2aMessage(
        entry.eventId().toString(),
        kagentMetadata.context().value(),
        kagentMetadata.root().value(),
        A2aRole.AGENT,
        parts,
        kagentMetadata.ofMessage(told, author.value()));
  }
}
