package dev.parley.api.agui;

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
    AgUiVersion version,
    @Nullable String parentRunId,
    List<InputMessage> messages,
    List<ObjectNode> tools,
    List<ObjectNode> context,
    ObjectNode state,
    JsonNode forwardedProps,
    List<ResumeEntry> resume) {

  private static final int ITEMS_MAX = 10_000;
  private static final int TOOLS_MAX = 100;
  private static final int CONTEXT_MAX = 100;
  private static final String TOOL_NAME = "[A-Za-z0-9_-]{1,64}";
  private static final Set<String> ROLES =
      Set.of("user", "assistant", "system", "developer", "tool");
  private static final Set<String> UNUSED = Set.of("reasoning", "activity");

  /// A message of the client. `toolCallId` and `error` are set only for tool results.
  record InputMessage(
      String id,
      String role,
      JsonNode content,
      @Nullable String toolCallId,
      @Nullable String error) {

    boolean hasRole(String who) {
      return role.equals(who);
    }

    String text() {
      return ContentParts.text(content);
    }
  }

  /// An answer to an interrupt. If it is not resolved, the interrupt is abandoned.
  record ResumeEntry(String interruptId, boolean resolved, @Nullable JsonNode payload) {}

  /// Reads a request's body.
  ///
  /// @throws Rejection.Invalid if a field is malformed; the message has its path
  static RunInput read(ObjectNode body) {
    return new RunInput(
        id(body, "threadId"),
        id(body, "runId"),
        AgUiVersion.of(optional(body, "protocolVersion")),
        optional(body, "parentRunId"),
        list(body, "messages", true).stream()
            .flatMap(listItem -> message(listItem).stream())
            .toList(),
        tools(list(body, "tools", false)),
        list(body, "context", false).stream().map(RunInput::context).toList(),
        state(body),
        body.path("forwardedProps"),
        resume(list(body, "resume", false)));
  }

  /// An item of a list, and its path.
  private record ListItem(JsonNode json, String path) {

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
      throw Id.rejection(name);
    }
    return id.asString();
  }

  private static @Nullable String optional(ObjectNode body, String name) {
    return new ListItem(body, "the body").optional(name);
  }

  private static List<ListItem> list(ObjectNode body, String name, boolean needed) {
    var list = body.path(name);
    if (!list.isArray() && (needed || !list.isMissingNode())) {
      throw malformed(name, "a list");
    }
    if (list.size() > ITEMS_MAX) {
      throw new Rejection.Invalid(name + " has at most " + ITEMS_MAX + " items");
    }
    var items = new ArrayList<ListItem>();
    for (var json : list) {
      var path = name + "[" + items.size() + "]";
      if (!json.isObject()) {
        throw malformed(path, "an object");
      }
      items.add(new ListItem(json, path));
    }
    return items;
  }

  /// Reads a message; empty for roles that only clients use and for unknown roles.
  private static List<InputMessage> message(ListItem listItem) {
    var role = listItem.text("role");
    var id = listItem.text("id");
    if (UNUSED.contains(role) || !ROLES.contains(role)) {
      return List.of();
    }
    if (role.equals("user") && !Id.valid(id)) {
      throw Id.rejection(listItem.path() + ".id");
    }
    var content = listItem.json().path("content");
    var parts = Set.of("user", "tool").contains(role);
    if (content.isArray() && parts) {
      content.forEach(part -> checkPart(part, listItem.path() + ".content"));
    } else if (!content.isString() && !(role.equals("assistant") && content.isMissingNode())) {
      throw malformed(
          listItem.path() + ".content", parts ? "a string or a list of parts" : "a string");
    }
    return List.of(
        new InputMessage(
            id,
            role,
            content,
            role.equals("tool") ? listItem.text("toolCallId") : null,
            role.equals("tool") ? listItem.optional("error") : null));
  }

  private static void checkPart(JsonNode part, String path) {
    var type = part.path("type").asString("");
    if (Set.of("text", "image", "audio", "video", "document").contains(type)
        && !ContentParts.isKnownPart(part)) {
      throw new Rejection.Invalid(path + " has a part of type " + type + " that is malformed");
    }
  }

  private static List<ObjectNode> tools(List<ListItem> items) {
    if (items.size() > TOOLS_MAX) {
      throw new Rejection.Invalid("there are at most " + TOOLS_MAX + " tools");
    }
    var names = new HashSet<String>();
    var tools = new ArrayList<ObjectNode>();
    for (var listItem : items) {
      var name = listItem.text("name");
      if (!name.matches(TOOL_NAME) || !names.add(name)) {
        throw malformed(
            listItem.path() + ".name", "1 to 64 characters of A-Z a-z 0-9 _ -, and unique");
      }
      var tool = Json.object().put("name", name).put("description", listItem.text("description"));
      var schema = listItem.json().path("parameters");
      if (!schema.isObject() && !schema.isMissingNode()) {
        throw malformed(listItem.path() + ".parameters", "a JSON Schema");
      }
      tool.set("schema", schema.isObject() ? schema : Json.object().put("type", "object"));
      tools.add(tool);
    }
    return tools;
  }

  private static ObjectNode context(ListItem listItem) {
    return Json.object()
        .put("description", listItem.text("description"))
        .put("value", listItem.text("value"));
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

  private static List<ResumeEntry> resume(List<ListItem> items) {
    var answered = new HashSet<String>();
    var answers = new ArrayList<ResumeEntry>();
    for (var listItem : items) {
      var id = listItem.text("interruptId");
      if (!answered.add(id)) {
        throw new Rejection.Invalid(
            listItem.path() + " answers the same interrupt as another entry");
      }
      var status = listItem.text("status");
      if (!Set.of("resolved", "cancelled").contains(status)) {
        throw malformed(listItem.path() + ".status", "resolved or cancelled");
      }
      var payload = listItem.json().path("payload");
      if (payload.isNull()) {
        throw malformed(listItem.path() + ".payload", "left out, or not null");
      }
      answers.add(
          new ResumeEntry(id, status.equals("resolved"), payload.isMissingNode() ? null : payload));
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
