package dev.parley.door.agui;

import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The body of a run request: a `RunAgentInput`.
///
/// Unknown fields are ignored; malformed known fields are rejected.
record RunInput(
    String threadId,
    String runId,
    ProtocolVersion version,
    @Nullable String parentRunId,
    List<Said> messages,
    List<ObjectNode> tools,
    List<ObjectNode> context,
    ObjectNode state,
    JsonNode forwardedProps,
    List<Answer> resume) {

  private static final int ITEMS_MAX = 10_000;
  private static final int TOOLS_MAX = 100;
  private static final int CONTEXT_MAX = 100;
  private static final String TOOL_NAME = "[A-Za-z0-9_-]{1,64}";
  private static final Set<String> ROLES =
      Set.of("user", "assistant", "system", "developer", "tool");
  private static final Set<String> UNUSED = Set.of("reasoning", "activity");

  /// A message of the client. `toolCallId` and `error` are set only for tool results.
  record Said(
      String id,
      String role,
      JsonNode content,
      @Nullable String toolCallId,
      @Nullable String error) {

    boolean by(String who) {
      return role.equals(who);
    }

    String text() {
      return ContentParts.text(content);
    }
  }

  /// An answer to an interrupt. If it is not resolved, the interrupt is abandoned.
  record Answer(String interruptId, boolean resolved, @Nullable JsonNode payload) {}

  /// Reads a request's body.
  ///
  /// @throws Rejection.Invalid if a field is malformed; the message has its path
  static RunInput read(ObjectNode body) {
    return new RunInput(
        id(body, "threadId"),
        id(body, "runId"),
        ProtocolVersion.of(optional(body, "protocolVersion")),
        optional(body, "parentRunId"),
        list(body, "messages", true).stream().flatMap(item -> said(item).stream()).toList(),
        tools(list(body, "tools", false)),
        list(body, "context", false).stream().map(RunInput::context).toList(),
        state(body),
        body.path("forwardedProps"),
        resume(list(body, "resume", false)));
  }

  /// An item of a list, and its path.
  private record Item(JsonNode json, String path) {

    String text(String name) {
      var value = json.path(name);
      if (!value.isString()) {
        throw malformed(path + "." + name, "a string");
      }
      return value.asString();
    }

    @Nullable String optional(String name) {
      return json.has(name) ? text(name) : null;
    }
  }

  private static Rejection malformed(String path, String wanted) {
    return new Rejection.Invalid(path + " must be " + wanted);
  }

  private static String id(ObjectNode body, String name) {
    var id = body.path(name);
    if (!id.isString()) {
      throw malformed(name, "a string");
    }
    if (!Id.valid(id.asString())) {
      throw Id.refusal(name);
    }
    return id.asString();
  }

  private static @Nullable String optional(ObjectNode body, String name) {
    return new Item(body, "the body").optional(name);
  }

  private static List<Item> list(ObjectNode body, String name, boolean needed) {
    var list = body.path(name);
    if (!list.isArray() && (needed || !list.isMissingNode())) {
      throw malformed(name, "a list");
    }
    if (list.size() > ITEMS_MAX) {
      throw new Rejection.Invalid(name + " has at most " + ITEMS_MAX + " items");
    }
    var items = new ArrayList<Item>();
    for (var json : list) {
      var path = name + "[" + items.size() + "]";
      if (!json.isObject()) {
        throw malformed(path, "an object");
      }
      items.add(new Item(json, path));
    }
    return items;
  }

  /// Reads a message; empty for roles that only clients use and for unknown roles.
  private static List<Said> said(Item item) {
    var role = item.text("role");
    var id = item.text("id");
    if (UNUSED.contains(role) || !ROLES.contains(role)) {
      return List.of();
    }
    if (role.equals("user") && !Id.valid(id)) {
      throw Id.refusal(item.path() + ".id");
    }
    var content = item.json().path("content");
    var parts = Set.of("user", "tool").contains(role);
    if (content.isArray() && parts) {
      content.forEach(part -> checkPart(part, item.path() + ".content"));
    } else if (!content.isString() && !(role.equals("assistant") && content.isMissingNode())) {
      throw malformed(item.path() + ".content", parts ? "a string or a list of parts" : "a string");
    }
    return List.of(
        new Said(
            id,
            role,
            content,
            role.equals("tool") ? item.text("toolCallId") : null,
            role.equals("tool") ? item.optional("error") : null));
  }

  private static void checkPart(JsonNode part, String path) {
    var type = part.path("type").asString("");
    if (Set.of("text", "image", "audio", "video", "document").contains(type)
        && !ContentParts.known(part)) {
      throw new Rejection.Invalid(path + " has a part of type " + type + " that is malformed");
    }
  }

  private static List<ObjectNode> tools(List<Item> items) {
    if (items.size() > TOOLS_MAX) {
      throw new Rejection.Invalid("there are at most " + TOOLS_MAX + " tools");
    }
    var names = new HashSet<String>();
    var tools = new ArrayList<ObjectNode>();
    for (var item : items) {
      var name = item.text("name");
      if (!name.matches(TOOL_NAME) || !names.add(name)) {
        throw malformed(item.path() + ".name", "1 to 64 characters of A-Z a-z 0-9 _ -, and unique");
      }
      var tool = Json.object().put("name", name).put("description", item.text("description"));
      var schema = item.json().path("parameters");
      if (!schema.isObject() && !schema.isMissingNode()) {
        throw malformed(item.path() + ".parameters", "a JSON Schema");
      }
      tool.set("schema", schema.isObject() ? schema : Json.object().put("type", "object"));
      tools.add(tool);
    }
    return tools;
  }

  private static ObjectNode context(Item item) {
    return Json.object()
        .put("description", item.text("description"))
        .put("value", item.text("value"));
  }

  private static ObjectNode state(ObjectNode body) {
    var state = body.path("state");
    if (state instanceof ObjectNode object) {
      return object;
    }
    if (!state.isMissingNode() && !state.isNull()) {
      throw malformed("state", "an object");
    }
    return Json.object();
  }

  private static List<Answer> resume(List<Item> items) {
    var answered = new HashSet<String>();
    var answers = new ArrayList<Answer>();
    for (var item : items) {
      var id = item.text("interruptId");
      if (!answered.add(id)) {
        throw new Rejection.Invalid(item.path() + " answers the same interrupt as another entry");
      }
      var status = item.text("status");
      if (!Set.of("resolved", "cancelled").contains(status)) {
        throw malformed(item.path() + ".status", "resolved or cancelled");
      }
      var payload = item.json().path("payload");
      if (payload.isNull()) {
        throw malformed(item.path() + ".payload", "left out, or not null");
      }
      answers.add(
          new Answer(id, status.equals("resolved"), payload.isMissingNode() ? null : payload));
    }
    return answers;
  }

  RunInput {
    if (context.size() > CONTEXT_MAX) {
      throw new Rejection.Invalid("there are at most " + CONTEXT_MAX + " entries of context");
    }
    messages = List.copyOf(messages);
    tools = List.copyOf(tools);
    context = List.copyOf(context);
    resume = List.copyOf(resume);
  }
}
