package dev.parley.a2a;

import dev.parley.protocol.Json;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses A2A objects in any of the encodings that [A2aEncoder] writes.
///
/// The encodings do not contradict each other, so one parser accepts all of them. Unknown fields
/// are ignored.
public final class A2aParser {

  private static final String PUSH_NAME = "/pushNotificationConfigs/";
  private static final Set<String> KINDS = Set.of("text", "file", "data");

  private A2aParser() {}

  /// Parses the parameters of a send request.
  ///
  /// @throws A2aException if a field is missing or has the wrong type, with its path; this holds
  ///     for all methods
  public static SendMessageRequest send(@Nullable JsonNode params) {
    var a2aJsonFields = A2aJsonFields.of(params, "");
    var member =
        a2aJsonFields.has("message")
            ? "message"
            : a2aJsonFields.has("request") ? "request" : "message";
    var message = message(a2aJsonFields.value(member), member);
    if (message.parts().isEmpty()) {
      throw A2aException.invalid(member + ".parts: at least one is needed");
    }
    var configuration =
        a2aJsonFields.has("configuration")
            ? a2aJsonFields.fields("configuration")
            : new A2aJsonFields(Json.object(), "");
    var length = configuration.integer("historyLength");
    if (length != null && length < 0) {
      throw A2aException.invalid("configuration.historyLength: must not be negative");
    }
    return new SendMessageRequest(
        message,
        configuration.texts("acceptedOutputModes"),
        length,
        !configuration.flag("returnImmediately", false) && configuration.flag("blocking", true),
        pushOf(configuration),
        a2aJsonFields.object("metadata"),
        a2aJsonFields.nonEmptyText("tenant"));
  }

  private static @Nullable PushNotificationConfig pushOf(A2aJsonFields configuration) {
    for (var name :
        List.of("taskPushNotificationConfig", "pushNotificationConfig", "pushNotification")) {
      if (configuration.has(name)) {
        return push(configuration.value(name));
      }
    }
    return null;
  }

  /// Parses a push target: alone, with its task, or in the 0.3 request that creates it.
  public static PushNotificationConfig push(@Nullable JsonNode value) {
    var outer = A2aJsonFields.of(value, "");
    var named = outer.has("config") ? outer.fields("config") : outer;
    var inner =
        named.has("pushNotificationConfig") ? named.fields("pushNotificationConfig") : named;
    var authentication =
        inner.has("authentication")
            ? inner.fields("authentication")
            : new A2aJsonFields(Json.object(), "");
    var schemes = authentication.texts("schemes");
    var scheme = authentication.nonEmptyText("scheme");
    var task = outer.nonEmptyText("taskId");
    var parent = outer.nonEmptyText("parent");
    return new PushNotificationConfig(
        pushId(outer, named, inner),
        task == null && parent != null ? last(parent) : task,
        inner.requiredText("url"),
        inner.nonEmptyText("token"),
        scheme == null && !schemes.isEmpty() ? schemes.getFirst() : scheme,
        authentication.nonEmptyText("credentials"),
        outer.nonEmptyText("tenant"));
  }

  /// The id of a push target: its own, the one in the request, or the end of its resource name.
  private static @Nullable String pushId(
      A2aJsonFields outer, A2aJsonFields named, A2aJsonFields inner) {
    var id = inner.nonEmptyText("id");
    var wanted = outer.nonEmptyText("configId");
    var name = named.nonEmptyText("name");
    if (id != null || wanted != null) {
      return id == null ? wanted : id;
    }
    return name != null && name.contains(PUSH_NAME) ? last(name) : null;
  }

  private static String last(String resource) {
    return resource.substring(resource.lastIndexOf('/') + 1);
  }

  /// Parses a message.
  public static A2aMessage message(@Nullable JsonNode value, String path) {
    var a2aJsonFields = A2aJsonFields.of(value, path);
    var role = a2aJsonFields.requiredText("role");
    var known = A2aRole.of(role);
    if (known.isEmpty()) {
      throw A2aException.invalid(path + ".role: unknown role " + role);
    }
    var parts = a2aJsonFields.has("parts") || !a2aJsonFields.has("content") ? "parts" : "content";
    return new A2aMessage(
        a2aJsonFields.requiredText("messageId"),
        a2aJsonFields.nonEmptyText("contextId"),
        a2aJsonFields.nonEmptyText("taskId"),
        known.get(),
        a2aJsonFields.list(parts, A2aParser::part),
        a2aJsonFields.object("metadata"),
        a2aJsonFields.texts("extensions"),
        a2aJsonFields.texts("referenceTaskIds"));
  }

  /// Parses a part.
  public static A2aPart part(@Nullable JsonNode value, String path) {
    var a2aJsonFields = A2aJsonFields.of(value, path);
    checkKind(a2aJsonFields);
    var metadata = a2aJsonFields.object("metadata");
    if (a2aJsonFields.has("file")) {
      return file(a2aJsonFields.fields("file"), metadata);
    }
    return new A2aPart(
        content(a2aJsonFields),
        a2aJsonFields.nonEmptyText("filename"),
        a2aJsonFields.nonEmptyText("mediaType"),
        metadata);
  }

  /// Checks the kind of a part, which versions before 0.3 call `type`.
  private static void checkKind(A2aJsonFields a2aJsonFields) {
    var name = a2aJsonFields.has("kind") ? "kind" : "type";
    var kind = a2aJsonFields.node().path(name);
    if (kind.isString() && !KINDS.contains(kind.stringValue())) {
      throw A2aException.invalid(
          a2aJsonFields.path()
              + "."
              + name
              + ": must be text, file or data, not "
              + kind.stringValue());
    }
  }

  private static A2aPart.PartContent content(A2aJsonFields a2aJsonFields) {
    var text = a2aJsonFields.text("text");
    if (text != null) {
      return new A2aPart.TextContent(text);
    }
    var raw = a2aJsonFields.text("raw");
    if (raw != null) {
      return new A2aPart.RawContent(raw);
    }
    var url = a2aJsonFields.text("url");
    if (url != null) {
      return new A2aPart.UrlContent(url);
    }
    var data = a2aJsonFields.node().get("data");
    if (data != null) {
      return new A2aPart.DataContent(wrapped(a2aJsonFields, data) ? data.get("data") : data);
    }
    throw A2aException.invalid(a2aJsonFields.path() + ": text, raw, url, file or data is needed");
  }

  /// True for the two layers of 0.3 over HTTP+JSON: `{"data": {"data": {…}}}` without other fields.
  private static boolean wrapped(A2aJsonFields a2aJsonFields, JsonNode data) {
    return data instanceof ObjectNode
        && data.size() == 1
        && data.get("data") instanceof ObjectNode
        && !a2aJsonFields.has("kind");
  }

  private static A2aPart file(A2aJsonFields file, @Nullable ObjectNode metadata) {
    var bytes = file.has("bytes") ? file.text("bytes") : file.text("fileWithBytes");
    var uri = file.has("uri") ? file.text("uri") : file.text("fileWithUri");
    if (bytes == null && uri == null) {
      throw A2aException.invalid(file.path() + ": bytes or uri is needed");
    }
    var name = file.nonEmptyText("name");
    var type = file.nonEmptyText("mimeType");
    return new A2aPart(
        bytes == null
            ? new A2aPart.UrlContent(uri == null ? "" : uri)
            : new A2aPart.RawContent(bytes),
        name,
        type == null ? file.nonEmptyText("mediaType") : type,
        metadata);
  }

  /// Parses a task.
  public static A2aTask task(@Nullable JsonNode value, String path) {
    var a2aJsonFields = A2aJsonFields.of(value, path);
    var context = a2aJsonFields.nonEmptyText("contextId");
    var id = a2aJsonFields.requiredText("id");
    return new A2aTask(
        id,
        context == null ? id : context,
        status(a2aJsonFields.fields("status")),
        a2aJsonFields.list("artifacts", A2aParser::artifact),
        a2aJsonFields.has("history") ? a2aJsonFields.list("history", A2aParser::message) : null,
        a2aJsonFields.object("metadata"));
  }

  private static A2aStatus status(A2aJsonFields a2aJsonFields) {
    var name = a2aJsonFields.nonEmptyText("state");
    var state = name == null ? A2aState.UNKNOWN : A2aState.of(name).orElse(A2aState.UNKNOWN);
    return new A2aStatus(
        state,
        a2aJsonFields.has("message")
            ? message(a2aJsonFields.value("message"), a2aJsonFields.path() + ".message")
            : null,
        a2aJsonFields.time("timestamp"));
  }

  /// Parses an artifact.
  public static A2aArtifact artifact(@Nullable JsonNode value, String path) {
    var a2aJsonFields = A2aJsonFields.of(value, path);
    return new A2aArtifact(
        a2aJsonFields.requiredText("artifactId"),
        a2aJsonFields.nonEmptyText("name"),
        a2aJsonFields.nonEmptyText("description"),
        a2aJsonFields.list("parts", A2aParser::part),
        a2aJsonFields.object("metadata"),
        a2aJsonFields.texts("extensions"));
  }

  /// Parses the result of a call or an item of a stream.
  public static A2aResponseItem item(@Nullable JsonNode value) {
    var a2aJsonFields = A2aJsonFields.of(value, "");
    var kind = a2aJsonFields.node().path("kind");
    if (kind.isString()) {
      return switch (kind.stringValue()) {
        case "task" -> task(value, "");
        case "message" -> message(value, "");
        case "status-update" -> statusUpdate(a2aJsonFields);
        case "artifact-update" -> artifactUpdate(a2aJsonFields);
        default -> throw A2aException.invalid("unknown kind " + kind.stringValue());
      };
    }
    if (a2aJsonFields.has("task")) {
      return task(a2aJsonFields.value("task"), "task");
    }
    if (a2aJsonFields.has("statusUpdate")) {
      return statusUpdate(a2aJsonFields.fields("statusUpdate"));
    }
    if (a2aJsonFields.has("artifactUpdate")) {
      return artifactUpdate(a2aJsonFields.fields("artifactUpdate"));
    }
    if (a2aJsonFields.has("message") || a2aJsonFields.has("msg")) {
      var member = a2aJsonFields.has("message") ? "message" : "msg";
      return message(a2aJsonFields.value(member), member);
    }
    throw A2aException.invalid("neither a task nor a message nor an update");
  }

  private static A2aStatusUpdate statusUpdate(A2aJsonFields a2aJsonFields) {
    return new A2aStatusUpdate(
        a2aJsonFields.requiredText("taskId"),
        a2aJsonFields.requiredText("contextId"),
        status(a2aJsonFields.fields("status")),
        a2aJsonFields.flag("final", false),
        a2aJsonFields.object("metadata"));
  }

  private static A2aArtifactUpdate artifactUpdate(A2aJsonFields a2aJsonFields) {
    return new A2aArtifactUpdate(
        a2aJsonFields.requiredText("taskId"),
        a2aJsonFields.requiredText("contextId"),
        artifact(a2aJsonFields.value("artifact"), "artifact"),
        a2aJsonFields.flag("append", false),
        a2aJsonFields.flag("lastChunk", false),
        a2aJsonFields.object("metadata"));
  }
}
