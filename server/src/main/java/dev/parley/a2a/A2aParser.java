package dev.parley.a2a;

import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aTask.A2aStatus;
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
    var fields = A2aJsonFields.of(params, "");
    var member = fields.has("message") ? "message" : fields.has("request") ? "request" : "message";
    var message = message(fields.value(member), member);
    if (message.parts().isEmpty()) {
      throw A2aException.invalid(member + ".parts: at least one is needed");
    }
    var configuration =
        fields.has("configuration")
            ? fields.fields("configuration")
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
        fields.object("metadata"),
        fields.nonEmptyText("tenant"));
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
    var fields = A2aJsonFields.of(value, path);
    var role = fields.requiredText("role");
    var known = A2aRole.of(role);
    if (known.isEmpty()) {
      throw A2aException.invalid(path + ".role: unknown role " + role);
    }
    var parts = fields.has("parts") || !fields.has("content") ? "parts" : "content";
    return new A2aMessage(
        fields.requiredText("messageId"),
        fields.nonEmptyText("contextId"),
        fields.nonEmptyText("taskId"),
        known.get(),
        fields.list(parts, A2aParser::part),
        fields.object("metadata"),
        fields.texts("extensions"),
        fields.texts("referenceTaskIds"));
  }

  /// Parses a part.
  public static A2aPart part(@Nullable JsonNode value, String path) {
    var fields = A2aJsonFields.of(value, path);
    checkKind(fields);
    var metadata = fields.object("metadata");
    if (fields.has("file")) {
      return file(fields.fields("file"), metadata);
    }
    return new A2aPart(
        content(fields),
        fields.nonEmptyText("filename"),
        fields.nonEmptyText("mediaType"),
        metadata);
  }

  /// Checks the kind of a part, which versions before 0.3 call `type`.
  private static void checkKind(A2aJsonFields fields) {
    var name = fields.has("kind") ? "kind" : "type";
    var kind = fields.node().path(name);
    if (kind.isString() && !KINDS.contains(kind.stringValue())) {
      throw A2aException.invalid(
          fields.path() + "." + name + ": must be text, file or data, not " + kind.stringValue());
    }
  }

  private static A2aPart.PartContent content(A2aJsonFields fields) {
    var text = fields.text("text");
    if (text != null) {
      return new A2aPart.TextContent(text);
    }
    var raw = fields.text("raw");
    if (raw != null) {
      return new A2aPart.RawContent(raw);
    }
    var url = fields.text("url");
    if (url != null) {
      return new A2aPart.UrlContent(url);
    }
    var data = fields.node().get("data");
    if (data != null) {
      return new A2aPart.DataContent(wrapped(fields, data) ? data.get("data") : data);
    }
    throw A2aException.invalid(fields.path() + ": text, raw, url, file or data is needed");
  }

  /// True for the two layers of 0.3 over HTTP+JSON: `{"data": {"data": {…}}}` without other fields.
  private static boolean wrapped(A2aJsonFields fields, JsonNode data) {
    return data instanceof ObjectNode
        && data.size() == 1
        && data.get("data") instanceof ObjectNode
        && !fields.has("kind");
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
    var fields = A2aJsonFields.of(value, path);
    var context = fields.nonEmptyText("contextId");
    var id = fields.requiredText("id");
    return new A2aTask(
        id,
        context == null ? id : context,
        status(fields.fields("status")),
        fields.list("artifacts", A2aParser::artifact),
        fields.has("history") ? fields.list("history", A2aParser::message) : null,
        fields.object("metadata"));
  }

  private static A2aStatus status(A2aJsonFields fields) {
    var name = fields.nonEmptyText("state");
    var state = name == null ? A2aState.UNKNOWN : A2aState.of(name).orElse(A2aState.UNKNOWN);
    return new A2aStatus(
        state,
        fields.has("message") ? message(fields.value("message"), fields.path() + ".message") : null,
        fields.time("timestamp"));
  }

  /// Parses an artifact.
  public static A2aArtifact artifact(@Nullable JsonNode value, String path) {
    var fields = A2aJsonFields.of(value, path);
    return new A2aArtifact(
        fields.requiredText("artifactId"),
        fields.nonEmptyText("name"),
        fields.nonEmptyText("description"),
        fields.list("parts", A2aParser::part),
        fields.object("metadata"),
        fields.texts("extensions"));
  }

  /// Parses the result of a call or an item of a stream.
  public static A2aResponseItem item(@Nullable JsonNode value) {
    var fields = A2aJsonFields.of(value, "");
    var kind = fields.node().path("kind");
    if (kind.isString()) {
      return switch (kind.stringValue()) {
        case "task" -> task(value, "");
        case "message" -> message(value, "");
        case "status-update" -> statusUpdate(fields);
        case "artifact-update" -> artifactUpdate(fields);
        default -> throw A2aException.invalid("unknown kind " + kind.stringValue());
      };
    }
    if (fields.has("task")) {
      return task(fields.value("task"), "task");
    }
    if (fields.has("statusUpdate")) {
      return statusUpdate(fields.fields("statusUpdate"));
    }
    if (fields.has("artifactUpdate")) {
      return artifactUpdate(fields.fields("artifactUpdate"));
    }
    if (fields.has("message") || fields.has("msg")) {
      var member = fields.has("message") ? "message" : "msg";
      return message(fields.value(member), member);
    }
    throw A2aException.invalid("neither a task nor a message nor an update");
  }

  private static A2aStatusUpdate statusUpdate(A2aJsonFields fields) {
    return new A2aStatusUpdate(
        fields.requiredText("taskId"),
        fields.requiredText("contextId"),
        status(fields.fields("status")),
        fields.flag("final", false),
        fields.object("metadata"));
  }

  private static A2aArtifactUpdate artifactUpdate(A2aJsonFields fields) {
    return new A2aArtifactUpdate(
        fields.requiredText("taskId"),
        fields.requiredText("contextId"),
        artifact(fields.value("artifact"), "artifact"),
        fields.flag("append", false),
        fields.flag("lastChunk", false),
        fields.object("metadata"));
  }
}
