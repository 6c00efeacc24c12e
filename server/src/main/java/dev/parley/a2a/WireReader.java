package dev.parley.a2a;

import dev.parley.protocol.Json;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses A2A objects in any of the encodings that [WireForm] writes.
///
/// The encodings do not contradict each other, so one parser accepts all of them. Unknown fields
/// are ignored.
public final class WireReader {

  private static final String PUSH_NAME = "/pushNotificationConfigs/";
  private static final Set<String> KINDS = Set.of("text", "file", "data");

  private WireReader() {}

  /// Parses the parameters of a send request.
  ///
  /// @throws A2aException if a field is missing or has the wrong type, with its path; this holds
  ///     for all methods
  public static SendRequest send(@Nullable JsonNode params) {
    var fields = Fields.of(params, "");
    var member = fields.has("message") ? "message" : fields.has("request") ? "request" : "message";
    var message = message(fields.value(member), member);
    if (message.parts().isEmpty()) {
      throw A2aException.invalid(member + ".parts: at least one is needed");
    }
    var configuration =
        fields.has("configuration")
            ? fields.fields("configuration")
            : new Fields(Json.object(), "");
    var length = configuration.whole("historyLength");
    if (length != null && length < 0) {
      throw A2aException.invalid("configuration.historyLength: must not be negative");
    }
    return new SendRequest(
        message,
        configuration.texts("acceptedOutputModes"),
        length,
        !configuration.flag("returnImmediately", false) && configuration.flag("blocking", true),
        pushOf(configuration),
        fields.object("metadata"),
        fields.filled("tenant"));
  }

  private static @Nullable PushTarget pushOf(Fields configuration) {
    for (var name :
        List.of("taskPushNotificationConfig", "pushNotificationConfig", "pushNotification")) {
      if (configuration.has(name)) {
        return push(configuration.value(name));
      }
    }
    return null;
  }

  /// Parses a push target: alone, with its task, or in the 0.3 request that creates it.
  public static PushTarget push(@Nullable JsonNode value) {
    var outer = Fields.of(value, "");
    var named = outer.has("config") ? outer.fields("config") : outer;
    var inner =
        named.has("pushNotificationConfig") ? named.fields("pushNotificationConfig") : named;
    var authentication =
        inner.has("authentication")
            ? inner.fields("authentication")
            : new Fields(Json.object(), "");
    var schemes = authentication.texts("schemes");
    var scheme = authentication.filled("scheme");
    var task = outer.filled("taskId");
    var parent = outer.filled("parent");
    return new PushTarget(
        pushId(outer, named, inner),
        task == null && parent != null ? last(parent) : task,
        inner.needed("url"),
        inner.filled("token"),
        scheme == null && !schemes.isEmpty() ? schemes.getFirst() : scheme,
        authentication.filled("credentials"),
        outer.filled("tenant"));
  }

  /// The id of a push target: its own, the one in the request, or the end of its resource name.
  private static @Nullable String pushId(Fields outer, Fields named, Fields inner) {
    var id = inner.filled("id");
    var wanted = outer.filled("configId");
    var name = named.filled("name");
    if (id != null || wanted != null) {
      return id == null ? wanted : id;
    }
    return name != null && name.contains(PUSH_NAME) ? last(name) : null;
  }

  private static String last(String resource) {
    return resource.substring(resource.lastIndexOf('/') + 1);
  }

  /// Parses a message.
  public static WireMessage message(@Nullable JsonNode value, String path) {
    var fields = Fields.of(value, path);
    var role = fields.needed("role");
    var known = WireRole.of(role);
    if (known.isEmpty()) {
      throw A2aException.invalid(path + ".role: unknown role " + role);
    }
    var parts = fields.has("parts") || !fields.has("content") ? "parts" : "content";
    return new WireMessage(
        fields.needed("messageId"),
        fields.filled("contextId"),
        fields.filled("taskId"),
        known.get(),
        fields.list(parts, WireReader::part),
        fields.object("metadata"),
        fields.texts("extensions"),
        fields.texts("referenceTaskIds"));
  }

  /// Parses a part.
  public static WirePart part(@Nullable JsonNode value, String path) {
    var fields = Fields.of(value, path);
    checkKind(fields);
    var metadata = fields.object("metadata");
    if (fields.has("file")) {
      return file(fields.fields("file"), metadata);
    }
    return new WirePart(
        content(fields), fields.filled("filename"), fields.filled("mediaType"), metadata);
  }

  /// Checks the kind of a part, which versions before 0.3 call `type`.
  private static void checkKind(Fields fields) {
    var name = fields.has("kind") ? "kind" : "type";
    var kind = fields.node().path(name);
    if (kind.isString() && !KINDS.contains(kind.stringValue())) {
      throw A2aException.invalid(
          fields.path() + "." + name + ": must be text, file or data, not " + kind.stringValue());
    }
  }

  private static WirePart.Content content(Fields fields) {
    var text = fields.text("text");
    if (text != null) {
      return new WirePart.Text(text);
    }
    var raw = fields.text("raw");
    if (raw != null) {
      return new WirePart.Raw(raw);
    }
    var url = fields.text("url");
    if (url != null) {
      return new WirePart.Url(url);
    }
    var data = fields.node().get("data");
    if (data != null) {
      return new WirePart.Data(wrapped(fields, data) ? data.get("data") : data);
    }
    throw A2aException.invalid(fields.path() + ": text, raw, url, file or data is needed");
  }

  /// True for the two layers of 0.3 over HTTP+JSON: `{"data": {"data": {…}}}` without other fields.
  private static boolean wrapped(Fields fields, JsonNode data) {
    return data instanceof ObjectNode
        && data.size() == 1
        && data.get("data") instanceof ObjectNode
        && !fields.has("kind");
  }

  private static WirePart file(Fields file, @Nullable ObjectNode metadata) {
    var bytes = file.has("bytes") ? file.text("bytes") : file.text("fileWithBytes");
    var uri = file.has("uri") ? file.text("uri") : file.text("fileWithUri");
    if (bytes == null && uri == null) {
      throw A2aException.invalid(file.path() + ": bytes or uri is needed");
    }
    var name = file.filled("name");
    var type = file.filled("mimeType");
    return new WirePart(
        bytes == null ? new WirePart.Url(uri == null ? "" : uri) : new WirePart.Raw(bytes),
        name,
        type == null ? file.filled("mediaType") : type,
        metadata);
  }

  /// Parses a task.
  public static WireTask task(@Nullable JsonNode value, String path) {
    var fields = Fields.of(value, path);
    var context = fields.filled("contextId");
    var id = fields.needed("id");
    return new WireTask(
        id,
        context == null ? id : context,
        status(fields.fields("status")),
        fields.list("artifacts", WireReader::artifact),
        fields.has("history") ? fields.list("history", WireReader::message) : null,
        fields.object("metadata"));
  }

  private static WireStatus status(Fields fields) {
    var name = fields.filled("state");
    var state = name == null ? WireState.UNKNOWN : WireState.of(name).orElse(WireState.UNKNOWN);
    return new WireStatus(
        state,
        fields.has("message") ? message(fields.value("message"), fields.path() + ".message") : null,
        fields.time("timestamp"));
  }

  /// Parses an artifact.
  public static WireArtifact artifact(@Nullable JsonNode value, String path) {
    var fields = Fields.of(value, path);
    return new WireArtifact(
        fields.needed("artifactId"),
        fields.filled("name"),
        fields.filled("description"),
        fields.list("parts", WireReader::part),
        fields.object("metadata"),
        fields.texts("extensions"));
  }

  /// Parses the result of a call or an item of a stream.
  public static WireItem item(@Nullable JsonNode value) {
    var fields = Fields.of(value, "");
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

  private static WireStatusUpdate statusUpdate(Fields fields) {
    return new WireStatusUpdate(
        fields.needed("taskId"),
        fields.needed("contextId"),
        status(fields.fields("status")),
        fields.flag("final", false),
        fields.object("metadata"));
  }

  private static WireArtifactUpdate artifactUpdate(Fields fields) {
    return new WireArtifactUpdate(
        fields.needed("taskId"),
        fields.needed("contextId"),
        artifact(fields.value("artifact"), "artifact"),
        fields.flag("append", false),
        fields.flag("lastChunk", false),
        fields.object("metadata"));
  }
}
