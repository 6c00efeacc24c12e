package dev.parley.door.a2a;

import dev.parley.a2a.A2aException;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireReader;
import dev.parley.a2a.WireRole;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.EarlyEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps events of a root task to A2A messages.
final class Speech {

  /// In the metadata of a message or an answer: its A2A fields beyond the text.
  static final String KEPT = "a2a";

  private static final String SUBAGENT_SESSION = "kagent_subagent_session_id";

  private final Marks marks;
  private final Version version;

  Speech(Marks marks, Version version) {
    this.marks = marks;
    this.version = version;
  }

  /// A message of a user or the agent.
  WireMessage message(Message message) {
    var own = message.role() == Role.USER;
    var kept = message.metadata() == null ? Json.object() : message.metadata().path(KEPT);
    return new WireMessage(
        kept.path("messageId").asString(message.messageId().value()),
        marks.context().value(),
        marks.root().value(),
        own ? WireRole.USER : WireRole.AGENT,
        parts(message),
        marks.ofMessage(
            own
                ? metadata(kept)
                : withEnd(metadata(kept), EarlyEnd.in(message.metadata()).orElse(null)),
            own ? Marks.USER : marks.agent().value()),
        texts(kept.path("extensions")),
        texts(kept.path("referenceTaskIds")));
  }

  /// Adds the reason why the answer ended early, if it did.
  static @Nullable ObjectNode withEnd(@Nullable ObjectNode metadata, @Nullable EarlyEnd end) {
    if (end == null) {
      return metadata;
    }
    var all = metadata == null ? Json.object() : metadata.deepCopy();
    end.put(all);
    return all;
  }

  private static @Nullable ObjectNode metadata(JsonNode kept) {
    return kept.path("metadata") instanceof ObjectNode told ? told : null;
  }

  private static List<WirePart> parts(Message message) {
    if (message.parts() == null) {
      return List.of(WirePart.text(message.content()));
    }
    try {
      var parts = new ArrayList<WirePart>();
      for (var part : message.parts()) {
        parts.add(WireReader.part(part, "parts"));
      }
      return parts;
    } catch (A2aException ofAnotherDoor) {
      return List.of(WirePart.text(message.content()));
    }
  }

  private static List<String> texts(JsonNode list) {
    return list.valueStream().filter(JsonNode::isString).map(JsonNode::stringValue).toList();
  }

  /// A user's answer.
  WireMessage answer(Entry entry, InputReceived received) {
    var kept = received.metadata() == null ? Json.object() : received.metadata().path(KEPT);
    var id = kept.path("messageId").asString(entry.eventId().toString());
    var parts = new ArrayList<WirePart>();
    for (var part : kept.path("parts")) {
      parts.add(WireReader.part(part, "parts"));
    }
    if (parts.isEmpty() && received.value() != null) {
      var value = received.value();
      parts.add(value.isString() ? WirePart.text(value.stringValue()) : WirePart.data(value));
    }
    var told = kept.path("metadata") instanceof ObjectNode object ? object : null;
    return new WireMessage(
        id,
        marks.context().value(),
        marks.root().value(),
        WireRole.USER,
        parts,
        marks.ofMessage(told, Marks.USER),
        texts(kept.path("extensions")),
        List.of());
  }

  /// A tool call.
  WireMessage call(Entry entry, ToolStart start) {
    var data = Json.object().put("id", start.toolCallId().value()).put("name", start.toolName());
    data.set("args", start.arguments());
    var about = Json.object().put(Marks.TYPE, "function_call");
    if (start.subagentMetadata() != null && !start.subagentMetadata().taskIds().isEmpty()) {
      var children = start.subagentMetadata().taskIds();
      about.put(SUBAGENT_SESSION, children.getFirst().value());
      var all = about.putArray("kagent_subagent_session_ids");
      children.forEach(child -> all.add(child.value()));
    }
    return said(entry, List.of(data(data, marks.ofPart(about))), null);
  }

  /// A call that starts a sub-agent.
  ///
  /// @param toolName the name of the tool, if it differs from the name that is shown
  WireMessage agentCall(Entry entry, ObjectNode data, TaskId child, @Nullable String toolName) {
    var about = Json.object().put(Marks.TYPE, "function_call").put(SUBAGENT_SESSION, child.value());
    if (toolName != null) {
      about.put("toolName", toolName);
    }
    return said(entry, List.of(data(data, marks.ofPart(about))), null);
  }

  /// The result of a sub-agent.
  WireMessage agentResult(Entry entry, ObjectNode data) {
    var about = Json.object().put(Marks.TYPE, "function_response");
    return said(entry, List.of(data(data, marks.ofPart(about))), null);
  }

  /// The result of a tool call.
  WireMessage result(Entry entry, ToolComplete end) {
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

  private static WirePart data(ObjectNode data, @Nullable ObjectNode about) {
    return new WirePart(new WirePart.Data(data), null, null, about);
  }

  /// The open questions as one message.
  WireMessage question(Entry entry, List<Standing.Question> asked) {
    var text = asked.stream().map(one -> prompt(one)).distinct().collect(Collectors.joining("\n"));
    var parts = new ArrayList<>(List.of(WirePart.text(text)));
    for (var one : asked) {
      if (one.asked() instanceof AuthRequired auth) {
        parts.add(WirePart.data(signIn(auth)));
      }
      if (one.asked() instanceof InputRequired input && !Hitl.isApproval(input)) {
        parts.add(WirePart.data(inputRequest(input)));
      }
      // Clients of 1.0 read the extension instead.
      if (one.asked() instanceof InputRequired input && version == Version.V0_3 && marks.told()) {
        var about = Json.object().put(Marks.TYPE, "function_call");
        about.put("kagent_is_long_running", true);
        parts.add(data(Hitl.confirmation(one, input, marks.root()), about));
      }
    }
    var request = Hitl.request(asked, marks.root());
    var told = Json.object();
    request.ifPresent(
        payload -> {
          told.set(Hitl.URI, withContext(payload));
        });
    var message = said(entry, parts, told);
    return request.isEmpty()
        ? message
        : new WireMessage(
            message.messageId(),
            message.contextId(),
            message.taskId(),
            message.role(),
            message.parts(),
            message.metadata(),
            List.of(Hitl.URI),
            List.of());
  }

  private ObjectNode withContext(ObjectNode payload) {
    if (payload.path("nested") instanceof ObjectNode nested) {
      nested.put("context_id", marks.context().value());
    }
    return payload;
  }

  private static String prompt(Standing.Question question) {
    return switch (question.asked()) {
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
            .put(Hitl.TYPE, "input_request")
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
    var json = Json.object().put(Hitl.TYPE, "auth_request").put("id", asked.authId().value());
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
  WireMessage reason(Entry entry, String text, @Nullable String errorCode) {
    var told =
        errorCode == null || !marks.told()
            ? null
            : Json.object().put("kagent_error_code", errorCode);
    return said(entry, List.of(WirePart.text(text)), told);
  }

  private WireMessage said(Entry entry, List<WirePart> parts, @Nullable ObjectNode told) {
    var author = entry.origin() == null ? marks.agent() : entry.origin().agentId();
    return new WireMessage(
        entry.eventId().toString(),
        marks.context().value(),
        marks.root().value(),
        WireRole.AGENT,
        parts,
        marks.ofMessage(told, author.value()));
  }
}
