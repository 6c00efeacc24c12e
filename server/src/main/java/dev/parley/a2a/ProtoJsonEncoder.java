package dev.parley.a2a;

import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The encoding of 1.0: ProtoJSON, where the name of the enclosing field gives the type of an
/// object, and false or empty fields are omitted.
sealed class ProtoJsonEncoder extends A2aEncoder permits EarlyProtoJsonEncoder {

  @Override
  public ObjectNode part(A2aPart part) {
    var json = Json.object();
    switch (part.content()) {
      case A2aPart.TextContent(var text) -> json.put("text", text);
      case A2aPart.RawContent(var base64) -> json.put("raw", base64);
      case A2aPart.UrlContent(var url) -> json.put("url", url);
      case A2aPart.DataContent(var value) -> json.set("data", value);
    }
    Json.putPresent(json, "metadata", part.metadata());
    Json.putPresent(json, "filename", part.filename());
    Json.putPresent(json, "mediaType", part.mediaType());
    return json;
  }

  @Override
  public final ObjectNode item(A2aResponseItem item) {
    var json = Json.object();
    switch (item) {
      case A2aTask task -> json.set("task", task(task));
      case A2aMessage message -> json.set(messageMember(), message(message));
      case A2aStatusUpdate update -> json.set("statusUpdate", statusUpdate(update));
      case A2aArtifactUpdate update -> json.set("artifactUpdate", artifactUpdate(update));
    }
    return json;
  }

  /// The name of the field with a message.
  String messageMember() {
    return "message";
  }

  @Override
  public ObjectNode push(PushNotificationConfig target) {
    var json = Json.object();
    Json.putPresent(json, "tenant", target.tenant());
    Json.putPresent(json, "id", target.id());
    Json.putPresent(json, "taskId", target.taskId());
    json.put("url", target.url());
    Json.putPresent(json, "token", target.token());
    if (target.scheme() != null) {
      var authentication = json.putObject("authentication").put("scheme", target.scheme());
      Json.putPresent(authentication, "credentials", target.credentials());
    }
    return json;
  }

  @Override
  public JsonNode pushes(List<PushNotificationConfig> targets) {
    var json = Json.object();
    json.putArray("configs").addAll(targets.stream().map(this::push).toList());
    return json;
  }

  @Override
  public ObjectNode send(SendMessageRequest request) {
    var json = Json.object();
    Json.putPresent(json, "tenant", request.tenant());
    json.set("message", message(request.message()));
    var configuration = configuration(request);
    if (!request.blocking()) {
      configuration.put("returnImmediately", true);
    }
    if (request.push() != null) {
      configuration.set("taskPushNotificationConfig", push(request.push()));
    }
    json.set("configuration", configuration);
    Json.putPresent(json, "metadata", request.metadata());
    return json;
  }

  @Override
  final ObjectNode object(String kind) {
    return Json.object();
  }

  @Override
  final void flag(ObjectNode json, String name, boolean value) {
    if (value) {
      json.put(name, true);
    }
  }

  @Override
  boolean marksLastStatus() {
    return false;
  }

  @Override
  String state(A2aState state) {
    return state.proto();
  }

  @Override
  final String role(A2aRole role) {
    return role.proto();
  }
}
