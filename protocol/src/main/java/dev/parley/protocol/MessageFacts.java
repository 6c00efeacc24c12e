package dev.parley.protocol;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of `message` says. The keys are known only here.
public final class MessageFacts {

  private static final String TASK_ID = "taskId";
  private static final String STEER = "steer";
  private static final String HEARD_BY = "heardBy";
  private static final String SUMMARY = "summary";
  private static final String CLIENT = "client";
  private static final String IMPORTED = "imported";
  private static final String USAGE = "usage";
  private static final String PARTIAL = "partial";
  private static final String REASON = "reason";
  private static final String CALLER = "caller";

  private final @Nullable ObjectNode metadata;
  private final MetadataFields fields;

  private MessageFacts(@Nullable ObjectNode metadata) {
    this.metadata = metadata;
    this.fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a message.
  public static MessageFacts of(@Nullable ObjectNode metadata) {
    return new MessageFacts(metadata);
  }

  /// The messages that a summary covers: those up to `throughSeq`, of which there are `messages`,
  /// as the log was at `asOf`. Older logs lack `asOf`.
  public record Summary(long throughSeq, int messages, @Nullable Long asOf) {

    private static Summary of(ObjectNode json) {
      return new Summary(
          json.path("throughSeq").asLong(0),
          json.path("messages").asInt(0),
          json.path("asOf").isNumber() ? json.path("asOf").asLong() : null);
    }

    /// The metadata of the summary.
    public ObjectNode toMetadata() {
      var metadata = Json.object();
      var json = metadata.putObject(SUMMARY).put("throughSeq", throughSeq);
      json.put("messages", messages);
      if (asOf != null) {
        json.put("asOf", asOf);
      }
      return metadata;
    }
  }

  /// The root task that answers a person's message, which itself belongs to no task.
  public Optional<TaskId> taskId() {
    return fields.id(TASK_ID, TaskId::new);
  }

  /// The message was sent to a running task.
  public boolean steers() {
    return fields.isTrue(STEER);
  }

  /// The tasks that receive such a message.
  public List<TaskId> heardBy() {
    return fields.ids(HEARD_BY, TaskId::new);
  }

  /// The message was sent to this task while it was running.
  public boolean steers(TaskId task) {
    return steers() && heardBy().contains(task);
  }

  /// The messages that this one summarizes, if it is a summary.
  public Optional<Summary> summary() {
    return fields.object(SUMMARY).map(Summary::of);
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

  /// The message is an answer that has the usage of its task.
  public boolean hasUsage() {
    return fields.has(USAGE);
  }

  /// The client's id for the run.
  public Optional<String> runId() {
    return fields.text(MetadataFields.RUN_ID);
  }

  /// The client's own metadata, unchanged.
  public Optional<ObjectNode> client() {
    return fields.object(CLIENT);
  }

  /// The fields that only the API of that name writes and reads.
  public Optional<ObjectNode> extension(String api) {
    return fields.object(api);
  }

  /// The agent that sent the message, if it is not from a person.
  public Optional<TextOrigin> caller() {
    return fields.object(CALLER).flatMap(TextOrigin::of);
  }

  /// Adds the agent that sent the message.
  public static void putCaller(ObjectNode metadata, String principal) {
    metadata.set(CALLER, new TextOrigin(TextOrigin.TextSource.CALLER, principal).json());
  }

  /// The metadata with the client's own metadata.
  public static ObjectNode ofClient(ObjectNode client) {
    return Json.object().set(CLIENT, client);
  }

  /// Removes the client's own metadata.
  public static void removeClient(ObjectNode metadata) {
    metadata.remove(CLIENT);
  }

  /// Adds the root task that answers the message.
  public static void putTaskId(ObjectNode metadata, TaskId task) {
    metadata.put(TASK_ID, task.value());
  }

  /// Marks a message that was sent to running tasks.
  public static void putSteering(ObjectNode metadata, List<TaskId> heardBy) {
    var heard = metadata.put(STEER, true).putArray(HEARD_BY);
    heardBy.forEach(task -> heard.add(task.value()));
  }

  /// Adds the client's id for the run.
  public static void putRunId(ObjectNode metadata, String run) {
    metadata.put(MetadataFields.RUN_ID, run);
  }

  /// The metadata of a message that a client sent in a run.
  public static ObjectNode ofRun(String run) {
    return Json.object().put(MetadataFields.RUN_ID, run);
  }

  /// The metadata of the text that a task wrote before it failed or was canceled.
  public static ObjectNode ofPartial(String reason) {
    return Json.object().put(PARTIAL, true).put(REASON, reason);
  }

  /// The metadata of a message of a task that a client runs.
  public static ObjectNode ofImported(TaskId task) {
    return Json.object().put(TASK_ID, task.value()).put(IMPORTED, true);
  }
}
