package dev.parley.api.chat;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolProgress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes the progress of a task, as text and as data for programs: `{message, percentage?,
/// stage?, metadata?}`.
final class ChatProgress {

  private ChatProgress() {}

  /// A change to a state that is not terminal.
  static ObjectNode of(TaskStatus status) {
    var metadata = status.metadata() == null ? Json.object() : status.metadata().deepCopy();
    StatusFacts.removePercentage(metadata);
    var routed = status.facts().routing().isPresent();
    var stage =
        switch (status.status()) {
          case SUBMITTED -> "queued";
          case WORKING -> routed ? "routing" : "working";
          case WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK, COMPLETED, FAILED, CANCELED ->
              status.status().wire();
        };
    var words = status.message() == null ? defaultMessage(status.status()) : status.message();
    var json = Json.object().put("message", words);
    status.facts().percentage().ifPresent(percentage -> json.set("percentage", percentage));
    return with(json.put("stage", stage), metadata);
  }

  private static String defaultMessage(TaskState state) {
    return switch (state) {
      case SUBMITTED -> "Waiting for the previous task";
      case WORKING -> "Working";
      case WAITING_INPUT -> "Waiting for input";
      case WAITING_AUTH -> "Waiting for a person to sign in";
      case WAITING_SUBTASK -> "Waiting for sub-agents";
      case COMPLETED -> "Completed";
      case FAILED -> "Failed";
      case CANCELED -> "Cancelled";
    };
  }

  /// Cancellation was requested; the task has not ended yet.
  static ObjectNode cancelling() {
    return Json.object().put("message", "Task cancellation requested").put("stage", "cancelling");
  }

  /// Progress of a tool call.
  static ObjectNode of(ToolProgress progress) {
    var percentage = Math.round(100 * progress.progress());
    var words = progress.message() == null ? percentage + " %" : progress.message();
    var json = Json.object().put("message", words).put("percentage", percentage);
    var metadata = progress.metadata() == null ? Json.object() : progress.metadata().deepCopy();
    metadata.put("toolUseId", progress.toolCallId().value());
    return with(json.put("stage", "tool"), metadata);
  }

  /// A task's question to a person was asked, answered or withdrawn.
  static ObjectNode of(Entry entry, InputEvent event) {
    return switch (event) {
      case InputRequired asked -> {
        var about = Json.object().put("inputId", asked.inputId().value());
        about.put("inputType", asked.inputType().wire());
        put(about, "schema", asked.schema());
        put(about, "options", asked.options());
        put(about, "expiresAt", asked.expiresAt());
        put(about, "about", asked.metadata());
        about.put("answer", "/api/contexts/" + entry.contextId() + "/inputs/" + asked.inputId());
        yield stage(asked.prompt(), "input-required", about);
      }
      case InputReceived given ->
          stage(
              "Answered by " + given.providedBy().wire(),
              "input-received",
              Json.object().put("inputId", given.inputId().value()));
      case InputLapsed lapsed ->
          stage(
              Optional.ofNullable(lapsed.reason()).orElse("No longer asked"),
              "input-lapsed",
              Json.object().put("inputId", lapsed.inputId().value()));
    };
  }

  /// A sign-in was requested, completed or withdrawn.
  static ObjectNode of(Entry entry, AuthEvent event) {
    return switch (event) {
      case AuthRequired asked -> {
        var about = Json.object().put("authId", asked.authId().value());
        about.put("authType", asked.authType().wire());
        put(about, "provider", asked.provider());
        put(about, "scopes", asked.scopes());
        put(about, "authUrl", asked.authUrl());
        put(about, "expiresAt", asked.expiresAt());
        put(about, "about", asked.metadata());
        about.put("answer", "/api/contexts/" + entry.contextId() + "/auths/" + asked.authId());
        yield stage(asked.prompt(), "auth-required", about);
      }
      case AuthCompleted done ->
          stage("Signed in", "auth-completed", Json.object().put("authId", done.authId().value()));
      case AuthLapsed lapsed ->
          stage(
              Optional.ofNullable(lapsed.reason()).orElse("No longer asked"),
              "auth-lapsed",
              Json.object().put("authId", lapsed.authId().value()));
    };
  }

  /// An artifact is complete; empty while it is being written.
  static Optional<ObjectNode> of(Entry entry, ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> artifact(entry, file, "file", file.complete());
      case DataWrite data -> artifact(entry, data, "data", true);
      case DatasetWrite rows -> artifact(entry, rows, "dataset", rows.complete());
    };
  }

  private static Optional<ObjectNode> artifact(
      Entry entry, ArtifactEvent event, String type, boolean complete) {
    if (!complete) {
      return Optional.empty();
    }
    var id = event.artifactId().value();
    var about = Json.object().put("artifactId", id).put("artifactType", type);
    put(about, "version", event.version());
    about.put("url", "/api/contexts/" + entry.contextId() + "/artifacts/" + id);
    return Optional.of(stage("Wrote " + type + " " + id, "artifact", about));
  }

  private static ObjectNode stage(String message, String stage, ObjectNode metadata) {
    return with(Json.object().put("message", message).put("stage", stage), metadata);
  }

  private static ObjectNode with(ObjectNode json, ObjectNode metadata) {
    if (!metadata.isEmpty()) {
      json.set("metadata", metadata);
    }
    return json;
  }

  private static void put(ObjectNode json, String name, @Nullable Object value) {
    if (value != null) {
      json.set(name, Json.mapper().valueToTree(value));
    }
  }
}
