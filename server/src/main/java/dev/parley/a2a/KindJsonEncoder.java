package dev.parley.a2a;

import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The encoding of 0.3 over JSON-RPC: the field `kind` gives the type of an object.
final class KindJsonEncoder extends A2aEncoder {

  private static final String KIND = "kind";

  @Override
  public ObjectNode part(A2aPart part) {
    var json = Json.object();
    switch (part.content()) {
      case A2aPart.TextContent(var text) -> json.put(KIND, "text").put("text", text);
      case A2aPart.RawContent(var base64) -> file(json, part).put("bytes", base64);
      case A2aPart.UrlContent(var url) -> file(json, part).put("uri", url);
      case A2aPart.DataContent(var value) -> json.put(KIND, "data").set("data", asObject(value));
    }
    Json.putPresent(json, "metadata", part.metadata());
    return json;
  }

  private static ObjectNode file(ObjectNode json, A2aPart part) {
    var file = json.put(KIND, "file").putObject("file");
    Json.putPresent(file, "mimeType", part.mediaType());
    Json.putPresent(file, "name", part.filename());
    return file;
  }

  /// The value if it is an object, or else an object around it: data can only be objects here.
  static ObjectNode asObject(JsonNode value) {
    return value instanceof ObjectNode object ? object : Json.object().set("value", value);
  }

  @Override
  public ObjectNode item(A2aResponseItem item) {
    return switch (item) {
      case A2aTask task -> task(task);
      case A2aMessage message -> message(message);
      case A2aStatusUpdate update -> statusUpdate(update);
      case A2aArtifactUpdate update -> artifactUpdate(update);
    };
  }

  @Override
  public ObjectNode push(PushNotificationConfig target) {
    var json = Json.object();
    Json.putPresent(json, "taskId", target.taskId());
    json.set("pushNotificationConfig", innerPushConfig(target));
    return json;
  }

  @Override
  public JsonNode pushes(List<PushNotificationConfig> targets) {
    return Json.mapper().createArrayNode().addAll(targets.stream().map(this::push).toList());
  }

  @Override
  public ObjectNode send(SendMessageRequest request) {
    var json = Json.object();
    json.set("message", message(request.message()));
    var configuration = configuration(request).put("blocking", request.blocking());
    if (request.push() != null) {
      configuration.set("pushNotificationConfig", innerPushConfig(request.push()));
    }
    json.set("configuration", configuration);
    Json.putPresent(json, "metadata", request.metadata());
    return json;
  }

  @Override
  ObjectNode object(String kind) {
    return Json.object().put(KIND, kind);
  }

  @Override
  void flag(ObjectNode json, String name, boolean value) {
    json.put(name, value);
  }

  @Override
  String state(A2aState state) {
    return state.kebab();
  }

  @Override
  String role(A2aRole role) {
    return role.plain();
  }
}
