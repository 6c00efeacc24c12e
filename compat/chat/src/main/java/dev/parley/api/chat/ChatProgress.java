package dev.parley.api.chat;

import dev.parley.api.chat.AgentEvent.ProgressPayload;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolProgress;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.LongNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes the progress of a task, as text and as data for programs.
final class ChatProgress {

  /// Cancellation was requested; the task has not ended yet.
  static final ProgressPayload CANCELLING =
      new ProgressPayload("Task cancellation requested", null, "cancelling", null);

  private ChatProgress() {}

  /// A question, with the path for its answer.
  record QuestionData(
      InputId inputId,
      @Nullable InputType inputType,
      @Nullable JsonNode schema,
      @Nullable List<JsonNode> options,
      @Nullable Instant expiresAt,
      @Nullable ObjectNode about,
      @Nullable String answer) {

    QuestionData(InputId inputId) {
      this(inputId, null, null, null, null, null, null);
    }
  }

  /// A sign-in, with the path for its answer.
  record SignInData(
      AuthId authId,
      @Nullable AuthType authType,
      @Nullable String provider,
      @Nullable List<String> scopes,
      @Nullable String authUrl,
      @Nullable Instant expiresAt,
      @Nullable ObjectNode about,
      @Nullable String answer) {

    SignInData(AuthId authId) {
      this(authId, null, null, null, null, null, null, null);
    }
  }

  /// An artifact, with its path.
  record ArtifactData(
      ArtifactId artifactId, String artifactType, @Nullable Integer version, String url) {}

  /// A change to a state that is not terminal.
  static ProgressPayload of(TaskStatus status) {
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
    return new ProgressPayload(
        status.message() == null ? defaultMessage(status.status()) : status.message(),
        status.facts().percentage().orElse(null),
        stage,
        metadata.isEmpty() ? null : metadata);
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

  /// Progress of a tool call.
  static ProgressPayload of(ToolProgress progress) {
    var percentage = Math.round(100 * progress.progress());
    var metadata = progress.metadata() == null ? Json.object() : progress.metadata().deepCopy();
    return new ProgressPayload(
        progress.message() == null ? percentage + " %" : progress.message(),
        LongNode.valueOf(percentage),
        "tool",
        metadata.put("toolUseId", progress.toolCallId().value()));
  }

  /// A task's question to a person was asked, answered or withdrawn.
  static ProgressPayload of(Entry entry, InputEvent event) {
    return switch (event) {
      case InputRequired asked ->
          stage(
              asked.prompt(),
              "input-required",
              new QuestionData(
                  asked.inputId(),
                  asked.inputType(),
                  asked.schema(),
                  asked.options(),
                  asked.expiresAt(),
                  asked.metadata(),
                  "/api/contexts/" + entry.contextId() + "/inputs/" + asked.inputId()));
      case InputReceived given ->
          stage(
              "Answered by " + given.providedBy().wire(),
              "input-received",
              new QuestionData(given.inputId()));
      case InputLapsed lapsed ->
          stage(withdrawn(lapsed.reason()), "input-lapsed", new QuestionData(lapsed.inputId()));
    };
  }

  /// A sign-in was requested, completed or withdrawn.
  static ProgressPayload of(Entry entry, AuthEvent event) {
    return switch (event) {
      case AuthRequired asked ->
          stage(
              asked.prompt(),
              "auth-required",
              new SignInData(
                  asked.authId(),
                  asked.authType(),
                  asked.provider(),
                  asked.scopes(),
                  asked.authUrl(),
                  asked.expiresAt(),
                  asked.metadata(),
                  "/api/contexts/" + entry.contextId() + "/auths/" + asked.authId()));
      case AuthCompleted done ->
          stage("Signed in", "auth-completed", new SignInData(done.authId()));
      case AuthLapsed lapsed ->
          stage(withdrawn(lapsed.reason()), "auth-lapsed", new SignInData(lapsed.authId()));
    };
  }

  private static String withdrawn(@Nullable String reason) {
    return reason == null ? "No longer asked" : reason;
  }

  /// An artifact is complete; empty while it is being written.
  static Optional<ProgressPayload> of(Entry entry, ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> artifact(entry, file, "file", file.complete());
      case DataWrite data -> artifact(entry, data, "data", true);
      case DatasetWrite rows -> artifact(entry, rows, "dataset", rows.complete());
    };
  }

  private static Optional<ProgressPayload> artifact(
      Entry entry, ArtifactEvent event, String type, boolean complete) {
    if (!complete) {
      return Optional.empty();
    }
    var id = event.artifactId();
    var url = "/api/contexts/" + entry.contextId() + "/artifacts/" + id;
    return Optional.of(
        stage(
            "Wrote " + type + " " + id,
            "artifact",
            new ArtifactData(id, type, event.version(), url)));
  }

  private static ProgressPayload stage(String message, String stage, Object metadata) {
    return new ProgressPayload(message, null, stage, metadata);
  }
}
