package dev.parley.a2a;

import dev.parley.protocol.Json;
import tools.jackson.databind.node.ObjectNode;

/// The encoding of 0.3 over HTTP+JSON: ProtoJSON with some different names.
final class EarlyProtoForm extends ProtoForm {

  @Override
  public ObjectNode part(WirePart part) {
    var json = Json.object();
    switch (part.content()) {
      case WirePart.Text(var text) -> json.put("text", text);
      case WirePart.Raw(var base64) -> file(json, part).put("fileWithBytes", base64);
      case WirePart.Url(var url) -> file(json, part).put("fileWithUri", url);
      case WirePart.Data(var value) -> json.putObject("data").set("data", KindForm.object(value));
    }
    Fields.put(json, "metadata", part.metadata());
    return json;
  }

  private static ObjectNode file(ObjectNode json, WirePart part) {
    var file = json.putObject("file");
    Fields.put(file, "mimeType", part.mediaType());
    Fields.put(file, "name", part.filename());
    return file;
  }

  @Override
  public ObjectNode message(WireMessage message) {
    return message(Json.object(), "content", message);
  }

  @Override
  public ObjectNode statusUpdate(WireStatusUpdate update) {
    var json = super.statusUpdate(update);
    if (update.last()) {
      json.put("final", true);
    }
    return json;
  }

  @Override
  String messageMember() {
    return "msg";
  }

  @Override
  String stateName(WireState state) {
    return state == WireState.CANCELED ? "TASK_STATE_CANCELLED" : state.proto();
  }

  @Override
  public ObjectNode push(PushTarget target) {
    var json = Json.object();
    json.put("name", "tasks/" + target.taskId() + "/pushNotificationConfigs/" + target.id());
    json.set("pushNotificationConfig", inner(target));
    return json;
  }

  @Override
  public ObjectNode send(SendRequest request) {
    var json = Json.object();
    json.set("request", message(request.message()));
    var configuration = configuration(request).put("blocking", request.blocking());
    if (request.push() != null) {
      configuration.set("pushNotification", inner(request.push()));
    }
    json.set("configuration", configuration);
    Fields.put(json, "metadata", request.metadata());
    return json;
  }
}
