package dev.parley.a2a;

import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes A2A objects as JSON, for one version and binding. [A2aParser] reads all encodings.
public abstract sealed class A2aEncoder permits KindJsonEncoder, ProtoJsonEncoder {

  A2aEncoder() {}

  public abstract ObjectNode part(A2aPart part);

  /// Encodes the result of a call or an item of a stream, wrapped in a field if the version
  /// requires it.
  public abstract ObjectNode item(A2aResponseItem item);

  public abstract ObjectNode push(PushNotificationConfig target);

  /// Encodes the response to a request for all push targets of a task.
  public abstract JsonNode pushes(List<PushNotificationConfig> targets);

  /// Encodes the parameters of a send request.
  public abstract ObjectNode send(SendMessageRequest request);

  abstract String state(A2aState state);

  abstract String role(A2aRole role);

  /// A new object of this kind, if the encoding writes kinds.
  abstract ObjectNode object(String kind);

  /// Writes a flag; some encodings omit it if it is false.
  abstract void flag(ObjectNode json, String name, boolean value);

  /// True if the last status of a stream is marked.
  boolean marksLastStatus() {
    return true;
  }

  /// The name of the field with the parts of a message.
  String partsMember() {
    return "parts";
  }

  final ObjectNode artifact(A2aArtifact artifact) {
    var json = Json.object().put("artifactId", artifact.artifactId());
    Json.putPresent(json, "name", artifact.name());
    Json.putPresent(json, "description", artifact.description());
    json.putArray("parts").addAll(artifact.parts().stream().map(this::part).toList());
    Json.putPresent(json, "metadata", artifact.metadata());
    A2aJsonFields.putTexts(json, "extensions", artifact.extensions());
    return json;
  }

  final ObjectNode status(A2aStatus status) {
    var json = Json.object().put("state", state(status.state()));
    if (status.message() != null) {
      json.set("message", message(status.message()));
    }
    if (status.timestamp() != null) {
      json.put("timestamp", A2aJsonFields.formatTime(status.timestamp()));
    }
    return json;
  }

  public final ObjectNode message(A2aMessage message) {
    var json = object("message").put("messageId", message.messageId());
    Json.putPresent(json, "contextId", message.contextId());
    Json.putPresent(json, "taskId", message.taskId());
    json.put("role", role(message.role()));
    json.putArray(partsMember()).addAll(message.parts().stream().map(this::part).toList());
    Json.putPresent(json, "metadata", message.metadata());
    A2aJsonFields.putTexts(json, "extensions", message.extensions());
    A2aJsonFields.putTexts(json, "referenceTaskIds", message.referenceTaskIds());
    return json;
  }

  public final ObjectNode task(A2aTask task) {
    var json = object("task").put("id", task.id()).put("contextId", task.contextId());
    json.set("status", status(task.status()));
    A2aJsonFields.putAll(json, "artifacts", task.artifacts().stream().map(this::artifact).toList());
    if (task.history() != null) {
      json.putArray("history").addAll(task.history().stream().map(this::message).toList());
    }
    Json.putPresent(json, "metadata", task.metadata());
    return json;
  }

  final ObjectNode statusUpdate(A2aStatusUpdate update) {
    var json = object("status-update");
    json.put("taskId", update.taskId()).put("contextId", update.contextId());
    json.set("status", status(update.status()));
    Json.putPresent(json, "metadata", update.metadata());
    if (marksLastStatus()) {
      flag(json, "final", update.last());
    }
    return json;
  }

  final ObjectNode artifactUpdate(A2aArtifactUpdate update) {
    var json = object("artifact-update");
    json.put("taskId", update.taskId()).put("contextId", update.contextId());
    json.set("artifact", artifact(update.artifact()));
    Json.putPresent(json, "metadata", update.metadata());
    flag(json, "append", update.append());
    flag(json, "lastChunk", update.lastChunk());
    return json;
  }

  /// The fields of the configuration that are the same in all versions.
  static ObjectNode configuration(SendMessageRequest request) {
    var json = Json.object();
    A2aJsonFields.putTexts(json, "acceptedOutputModes", request.acceptedOutputModes());
    Json.putPresent(json, "historyLength", request.historyLength());
    return json;
  }

  /// The inner object of a push target in 0.3, which has two layers.
  static ObjectNode innerPushConfig(PushNotificationConfig target) {
    var json = Json.object();
    Json.putPresent(json, "id", target.id());
    json.put("url", target.url());
    Json.putPresent(json, "token", target.token());
    if (target.scheme() != null) {
      var authentication = json.putObject("authentication");
      authentication.putArray("schemes").add(target.scheme());
      Json.putPresent(authentication, "credentials", target.credentials());
    }
    return json;
  }
}
