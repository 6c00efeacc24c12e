package dev.parley.protocol;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of a task's last event says: `task-complete`, or the final `task-status`. The
/// sums are JSON, so that an API can copy them; a missing sum is a missing node.
public final class TaskEndFacts {

  private static final List<String> OWN_FIELDS =
      List.of(
          "usage",
          "modelUsage",
          "costUsd",
          "duration",
          "iterations",
          "tokensUsed",
          "ownUsage",
          "agentId",
          "started",
          "previousResults",
          "clientTools",
          "strategy",
          "blockedBy",
          "subtaskIds");

  private final @Nullable ObjectNode metadata;
  private final MetadataFields fields;

  private TaskEndFacts(@Nullable ObjectNode metadata) {
    this.metadata = metadata;
    this.fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a task's last event, or of a task as a whole.
  public static TaskEndFacts of(@Nullable ObjectNode metadata) {
    return new TaskEndFacts(metadata);
  }

  /// Why the answer is incomplete, if it is.
  public Optional<EarlyEnd> earlyEnd() {
    return EarlyEnd.in(metadata);
  }

  /// True if the answer has no text.
  public boolean emptyAnswer() {
    return EmptyAnswer.in(metadata);
  }

  /// Why the answer is incomplete, as the log has it. Logs of version 0.1 do not.
  public Optional<String> finishReason() {
    return fields.text("finishReason");
  }

  /// The decision of the supervisor, if the task is one.
  public Optional<RoutingFacts> routing() {
    return StatusFacts.of(metadata).routing();
  }

  /// The elapsed time in milliseconds.
  public JsonNode duration() {
    return fields.value("duration");
  }

  /// The number of the task's own turns.
  public JsonNode iterations() {
    return fields.value("iterations");
  }

  /// The tokens of the task and its subtasks.
  public JsonNode usage() {
    return fields.value("usage");
  }

  /// The same for each model.
  public JsonNode modelUsage() {
    return fields.value("modelUsage");
  }

  /// False in logs of version 0.1, whose sums do not include the subtasks.
  public boolean sumsIncludeSubtasks() {
    return fields.has("ownUsage");
  }

  /// The results of the subtasks.
  public List<JsonNode> results() {
    return fields.values("results");
  }

  /// The metadata of a supervisor's end: its decision, and the results of its agents.
  public static ObjectNode ofRouting(ObjectNode routing, List<? extends JsonNode> results) {
    var metadata = StatusFacts.ofRouting(routing);
    metadata.putArray("results").addAll(results);
    return metadata;
  }

  /// The metadata without the sums, and without the fields that describe how the task began.
  public ObjectNode others() {
    var others = metadata == null ? Json.object() : metadata.deepCopy();
    others.remove(OWN_FIELDS);
    return others;
  }

  /// The fields that only the API of that name writes and reads.
  public Optional<ObjectNode> extension(String api) {
    return fields.object(api);
  }
}
