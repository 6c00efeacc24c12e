package dev.parley.a2a;

import dev.parley.protocol.Json;
import tools.jackson.databind.node.ObjectNode;

/// The encoding of 0.3 over HTTP+JSON: ProtoJSON with some different names.
final class EarlyProtoJsonEncoder extends ProtoJsonEncoder {

  @Override
  public ObjectNode part(A2aPart part) {
    var json = Json.object();
    switch (part.content()) {
      case A2aPart.TextContent(var text) -> json.put("text", text);
      case A2aPart.RawContent(var base64) -> file(json, part).put("fileWithBytes", base64);
      case A2aPart.UrlContent(var url) -> file(json, part).put("fileWithUri", url);
      case A2aPart.DataContent(var value) ->
          json.putObject("data").set("data", KindJsonEncoder.asObject(value));
    }
    Json.putPresent(json, "metadata", part.metadata());
    return json;
  }

  private static ObjectNode file(ObjectNode json, A2aPart part) {
    var file = json.putObject("file");
    Json.putPresent(file, "mimeType", part.mediaType());
    Json.putPresent(file, "name", part.filename());
    return file;
  }

  @Override
  String partsMember() {
    return "content";
  }

  @Override
  boolean marksLastStatus() {
    return true;
  }

  @Override
  String messageMember() {
    return "msg";
  }

  @Override
  String state(A2aState state) {
    return state == A2aState.CANCELED ? "TASK_STATE_CANCELLED" : state.proto();
  }

  @Override
  public ObjectNode push(PushNotificationConfig target) {
    var json = Json.object();
    json.put("name", "tasks/" + target.taskId() + "/pushNotificationConfigs/" + target.id());
    json.set("pushNotificationConfig", innerPushConfig(target));
    return json;
  }

  @Override
  public ObjectNode send(SendMessageRequest request) {
    var json = Json.object();
    json.set("request", message(request.message()));
    var configuration = configuration(request).put("blocking", request.blocking());
    if (request.push() != null) {
      configuration.set("pushNotification", innerPushConfig(request.push()));
    }
    json.set("configuration", configuration);
    Json.putPresent(json, "metadata", request.metadata());
    return json;
  }
}
