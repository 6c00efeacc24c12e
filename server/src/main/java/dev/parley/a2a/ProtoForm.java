package dev.parley.a2a;

import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The encoding of 1.0: ProtoJSON, where the name of the enclosing field gives the type of an
/// object, and false or empty fields are omitted.
sealed class ProtoForm extends WireForm permits EarlyProtoForm {

  @Override
  public ObjectNode part(WirePart part) {
    var json = Json.object();
    switch (part.content()) {
      case WirePart.Text(var text) -> json.put("text", text);
      case WirePart.Raw(var base64) -> json.put("raw", base64);
      case WirePart.Url(var url) -> json.put("url", url);
      case WirePart.Data(var value) -> json.set("data", value);
    }
    Fields.put(json, "metadata", part.metadata());
    Fields.put(json, "filename", part.filename());
    Fields.put(json, "mediaType", part.mediaType());
    return json;
  }

  @Override
  public ObjectNode message(WireMessage message) {
    return message(Json.object(), "parts", message);
  }

  @Override
  public final ObjectNode task(WireTask task) {
    return task(Json.object(), task);
  }

  @Override
  public ObjectNode statusUpdate(WireStatusUpdate update) {
    return statusUpdate(Json.object(), update);
  }

  @Override
  public final ObjectNode artifactUpdate(WireArtifactUpdate update) {
    var json = artifactUpdate(Json.object(), update);
    if (update.append()) {
      json.put("append", true);
    }
    if (update.lastChunk()) {
      json.put("lastChunk", true);
    }
    return json;
  }

  @Override
  public final ObjectNode item(WireItem item) {
    var json = Json.object();
    switch (item) {
      case WireTask task -> json.set("task", task(task));
      case WireMessage message -> json.set(messageMember(), message(message));
      case WireStatusUpdate update -> json.set("statusUpdate", statusUpdate(update));
      case WireArtifactUpdate update -> json.set("artifactUpdate", artifactUpdate(update));
    }
    return json;
  }

  /// The name of the field with a message.
  String messageMember() {
    return "message";
  }

  @Override
  public ObjectNode push(PushTarget target) {
    var json = Json.object();
    Fields.put(json, "tenant", target.tenant());
    Fields.put(json, "id", target.id());
    Fields.put(json, "taskId", target.taskId());
    json.put("url", target.url());
    Fields.put(json, "token", target.token());
    if (target.scheme() != null) {
      var authentication = json.putObject("authentication").put("scheme", target.scheme());
      Fields.put(authentication, "credentials", target.credentials());
    }
    return json;
  }

  @Override
  public JsonNode pushes(List<PushTarget> targets) {
    var json = Json.object();
    json.putArray("configs").addAll(targets.stream().map(this::push).toList());
    return json;
  }

  @Override
  public ObjectNode send(SendRequest request) {
    var json = Json.object();
    Fields.put(json, "tenant", request.tenant());
    json.set("message", message(request.message()));
    var configuration = configuration(request);
    if (!request.blocking()) {
      configuration.put("returnImmediately", true);
    }
    if (request.push() != null) {
      configuration.set("taskPushNotificationConfig", push(request.push()));
    }
    json.set("configuration", configuration);
    Fields.put(json, "metadata", request.metadata());
    return json;
  }

  @Override
  final String state(WireState state) {
    return stateName(state);
  }

  String stateName(WireState state) {
    return state.proto();
  }

  @Override
  final String role(WireRole role) {
    return role.proto();
  }
}
