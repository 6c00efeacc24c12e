package dev.parley.a2a;

import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The encoding of 0.3 over JSON-RPC: the field `kind` gives the type of an object.
final class KindForm extends WireForm {

  private static final String KIND = "kind";

  @Override
  public ObjectNode part(WirePart part) {
    var json = Json.object();
    switch (part.content()) {
      case WirePart.Text(var text) -> json.put(KIND, "text").put("text", text);
      case WirePart.Raw(var base64) -> file(json, part).put("bytes", base64);
      case WirePart.Url(var url) -> file(json, part).put("uri", url);
      case WirePart.Data(var value) -> json.put(KIND, "data").set("data", object(value));
    }
    Fields.put(json, "metadata", part.metadata());
    return json;
  }

  private static ObjectNode file(ObjectNode json, WirePart part) {
    var file = json.put(KIND, "file").putObject("file");
    Fields.put(file, "mimeType", part.mediaType());
    Fields.put(file, "name", part.filename());
    return file;
  }

  /// The value if it is an object, or else an object around it: data can only be objects here.
  static ObjectNode object(JsonNode value) {
    return value instanceof ObjectNode object ? object : Json.object().set("value", value);
  }

  @Override
  public ObjectNode message(WireMessage message) {
    return message(Json.object().put(KIND, "message"), "parts", message);
  }

  @Override
  public ObjectNode task(WireTask task) {
    return task(Json.object().put(KIND, "task"), task);
  }

  @Override
  public ObjectNode statusUpdate(WireStatusUpdate update) {
    return statusUpdate(Json.object().put(KIND, "status-update"), update)
        .put("final", update.last());
  }

  @Override
  public ObjectNode artifactUpdate(WireArtifactUpdate update) {
    return artifactUpdate(Json.object().put(KIND, "artifact-update"), update)
        .put("append", update.append())
        .put("lastChunk", update.lastChunk());
  }

  @Override
  public ObjectNode item(WireItem item) {
    return switch (item) {
      case WireTask task -> task(task);
      case WireMessage message -> message(message);
      case WireStatusUpdate update -> statusUpdate(update);
      case WireArtifactUpdate update -> artifactUpdate(update);
    };
  }

  @Override
  public ObjectNode push(PushTarget target) {
    var json = Json.object();
    Fields.put(json, "taskId", target.taskId());
    json.set("pushNotificationConfig", inner(target));
    return json;
  }

  @Override
  public JsonNode pushes(List<PushTarget> targets) {
    return Json.mapper().createArrayNode().addAll(targets.stream().map(this::push).toList());
  }

  @Override
  public ObjectNode send(SendRequest request) {
    var json = Json.object();
    json.set("message", message(request.message()));
    var configuration = configuration(request).put("blocking", request.blocking());
    if (request.push() != null) {
      configuration.set("pushNotificationConfig", inner(request.push()));
    }
    json.set("configuration", configuration);
    Fields.put(json, "metadata", request.metadata());
    return json;
  }

  @Override
  String state(WireState state) {
    return state.kebab();
  }

  @Override
  String role(WireRole role) {
    return role.plain();
  }
}
