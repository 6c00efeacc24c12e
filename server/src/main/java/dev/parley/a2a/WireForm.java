package dev.parley.a2a;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes A2A objects as JSON, for one version and binding. [WireReader] reads all encodings.
public abstract sealed class WireForm permits KindForm, ProtoForm {

  WireForm() {}

  public abstract ObjectNode part(WirePart part);

  public abstract ObjectNode message(WireMessage message);

  public abstract ObjectNode task(WireTask task);

  public abstract ObjectNode statusUpdate(WireStatusUpdate update);

  public abstract ObjectNode artifactUpdate(WireArtifactUpdate update);

  /// Encodes the result of a call or an item of a stream, wrapped in a field if the version
  /// requires it.
  public abstract ObjectNode item(WireItem item);

  public abstract ObjectNode push(PushTarget target);

  /// Encodes the response to a request for all push targets of a task.
  public abstract JsonNode pushes(List<PushTarget> targets);

  /// Encodes the parameters of a send request.
  public abstract ObjectNode send(SendRequest request);

  abstract String state(WireState state);

  abstract String role(WireRole role);

  final ObjectNode artifact(WireArtifact artifact) {
    var json = Fields.object().put("artifactId", artifact.artifactId());
    Fields.put(json, "name", artifact.name());
    Fields.put(json, "description", artifact.description());
    json.putArray("parts").addAll(artifact.parts().stream().map(this::part).toList());
    Fields.put(json, "metadata", artifact.metadata());
    Fields.putTexts(json, "extensions", artifact.extensions());
    return json;
  }

  final ObjectNode status(WireStatus status) {
    var json = Fields.object().put("state", state(status.state()));
    if (status.message() != null) {
      json.set("message", message(status.message()));
    }
    if (status.timestamp() != null) {
      json.put("timestamp", Fields.written(status.timestamp()));
    }
    return json;
  }

  /// Writes the fields of a message, with its parts in the field `parts`.
  final ObjectNode message(ObjectNode json, String parts, WireMessage message) {
    json.put("messageId", message.messageId());
    Fields.put(json, "contextId", message.contextId());
    Fields.put(json, "taskId", message.taskId());
    json.put("role", role(message.role()));
    json.putArray(parts).addAll(message.parts().stream().map(this::part).toList());
    Fields.put(json, "metadata", message.metadata());
    Fields.putTexts(json, "extensions", message.extensions());
    Fields.putTexts(json, "referenceTaskIds", message.referenceTaskIds());
    return json;
  }

  final ObjectNode task(ObjectNode json, WireTask task) {
    json.put("id", task.id()).put("contextId", task.contextId());
    json.set("status", status(task.status()));
    Fields.putAll(json, "artifacts", task.artifacts().stream().map(this::artifact).toList());
    if (task.history() != null) {
      json.putArray("history").addAll(task.history().stream().map(this::message).toList());
    }
    Fields.put(json, "metadata", task.metadata());
    return json;
  }

  final ObjectNode statusUpdate(ObjectNode json, WireStatusUpdate update) {
    json.put("taskId", update.taskId()).put("contextId", update.contextId());
    json.set("status", status(update.status()));
    Fields.put(json, "metadata", update.metadata());
    return json;
  }

  final ObjectNode artifactUpdate(ObjectNode json, WireArtifactUpdate update) {
    json.put("taskId", update.taskId()).put("contextId", update.contextId());
    json.set("artifact", artifact(update.artifact()));
    Fields.put(json, "metadata", update.metadata());
    return json;
  }

  /// The fields of the configuration that are the same in all versions.
  static ObjectNode configuration(SendRequest request) {
    var json = Fields.object();
    Fields.putTexts(json, "acceptedOutputModes", request.acceptedOutputModes());
    if (request.historyLength() != null) {
      json.put("historyLength", request.historyLength());
    }
    return json;
  }

  /// The inner object of a push target in 0.3, which has two layers.
  static ObjectNode inner(PushTarget target) {
    var json = Fields.object();
    Fields.put(json, "id", target.id());
    json.put("url", target.url());
    Fields.put(json, "token", target.token());
    if (target.scheme() != null) {
      var authentication = json.putObject("authentication");
      authentication.putArray("schemes").add(target.scheme());
      Fields.put(authentication, "credentials", target.credentials());
    }
    return json;
  }
}
