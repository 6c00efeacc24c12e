package dev.parley.protocol;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of `task-status` says. The keys are known only here.
public final class StatusFacts {

  private static final String RECOVERED = "recovered";
  private static final String HANDED_BACK = "handedBack";
  private static final String BLOCKED_BY = "blockedBy";
  private static final String USER = "user";
  private static final String INPUT_ID = "inputId";
  private static final String INPUT_IDS = "inputIds";
  private static final String AUTH_IDS = "authIds";
  private static final String SUBTASK_IDS = "subtaskIds";
  private static final String ROUTING = "routing";
  private static final String RETRY = "retry";
  private static final String PERCENTAGE = "percentage";
  private static final String REASON = "reason";
  private static final String STARTED = "started";
  private static final String PAUSED = "paused";
  private static final String BUDGET = "budget";
  private static final String RULE = "rule";
  private static final String TOOL = "tool";

  private final MetadataFields fields;

  private StatusFacts(@Nullable ObjectNode metadata) {
    fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a status, or of a task as a whole.
  public static StatusFacts of(@Nullable ObjectNode metadata) {
    return new StatusFacts(metadata);
  }

  /// A retry of a model call. `attempt` is the number of the next attempt, and `code` that of the
  /// last error.
  public record Retry(
      int attempt, int maxAttempts, long delayMs, String code, String reason, String model) {

    private static Retry of(ObjectNode json) {
      return new Retry(
          json.path("attempt").asInt(0),
          json.path("maxAttempts").asInt(0),
          json.path("delayMs").asLong(0),
          json.path("code").asString(""),
          json.path("reason").asString(""),
          json.path("model").asString(""));
    }

    /// The metadata of a status that reports the retry.
    public ObjectNode toMetadata() {
      var metadata = Json.object();
      metadata
          .putObject(RETRY)
          .put("attempt", attempt)
          .put("maxAttempts", maxAttempts)
          .put("delayMs", delayMs)
          .put("code", code)
          .put("reason", reason)
          .put("model", model);
      return metadata;
    }
  }

  /// A server resumed the task after a crash.
  public boolean recovered() {
    return fields.isTrue(RECOVERED);
  }

  /// The server stopped in good order, and the next start resumes the task.
  public boolean handedBack() {
    return fields.isTrue(HANDED_BACK);
  }

  /// The question that the task asks its parent agents, if it asks them one.
  public Optional<InputId> askedOfParent() {
    return fields.id(INPUT_ID, InputId::new);
  }

  /// The task waits for a person.
  public boolean blockedByUser() {
    return fields.text(BLOCKED_BY).filter(USER::equals).isPresent();
  }

  /// The questions that the task waits for.
  public List<InputId> inputIds() {
    return fields.ids(INPUT_IDS, InputId::new);
  }

  /// The subtasks that the task waits for. A task that only delegates has them while its state is
  /// `working`.
  public List<TaskId> subtaskIds() {
    return fields.ids(SUBTASK_IDS, TaskId::new);
  }

  /// The decision of a supervisor, if it has made one.
  public Optional<RoutingFacts> routing() {
    return fields.object(ROUTING).map(RoutingFacts::new);
  }

  /// The model call that is about to be retried, if the status reports a retry.
  public Optional<Retry> retry() {
    return fields.object(RETRY).map(Retry::of);
  }

  /// The progress in percent, if the task reports it.
  public Optional<JsonNode> percentage() {
    return Optional.of(fields.value(PERCENTAGE)).filter(value -> !value.isMissingNode());
  }

  /// Removes the progress in percent.
  public static void removePercentage(ObjectNode metadata) {
    metadata.remove(PERCENTAGE);
  }

  /// Why the task failed or was canceled.
  public Optional<String> reason() {
    return fields.text(REASON);
  }

  /// False if the task was canceled before it started.
  public boolean started() {
    return fields.value(STARTED).asBoolean(true);
  }

  /// The metadata of a task that a server resumed after a crash.
  public static ObjectNode ofRecovered() {
    return Json.object().put(RECOVERED, true);
  }

  /// The metadata of a task that the next start resumes.
  public static ObjectNode ofHandedBack() {
    return Json.object().put(HANDED_BACK, true);
  }

  /// The pause for whose end the task waits, if it was stopped by one.
  public Optional<String> pausedBy() {
    return fields.text(PAUSED);
  }

  /// The metadata of a task that waits for the end of the pause with this id.
  public static ObjectNode ofPaused(String pause) {
    return ofHandedBack().put(PAUSED, pause);
  }

  /// The metadata of a task in which an approval rule allowed a call of a program.
  public static ObjectNode ofRule(String rule, String tool) {
    return Json.object().put(RULE, rule).put(TOOL, tool);
  }

  /// The metadata of a task that reports a budget that is nearly used up.
  public static ObjectNode ofBudget(JsonNode budget) {
    return Json.object().set(BUDGET, budget);
  }

  /// The metadata of a task that waits in the queue behind another one.
  public static ObjectNode ofQueued(TaskId ahead) {
    return Json.object().put(BLOCKED_BY, ahead.value());
  }

  /// The metadata of a task that waits for the answers of a person.
  public static ObjectNode ofWaiting(List<InputId> inputs) {
    return ofWaiting(USER, INPUT_IDS, inputs);
  }

  /// The metadata of a task that waits for the sign-ins of a person.
  public static ObjectNode ofWaitingForSignIns(List<AuthId> auths) {
    return ofWaiting(USER, AUTH_IDS, auths);
  }

  /// The metadata of a task that waits for its subtasks. There must be at least one.
  public static ObjectNode ofWaitingForSubtasks(List<TaskId> subtasks) {
    return ofWaiting(subtasks.getFirst().value(), SUBTASK_IDS, subtasks);
  }

  private static ObjectNode ofWaiting(String blockedBy, String key, List<? extends Id> ids) {
    var metadata = Json.object().put(BLOCKED_BY, blockedBy);
    var list = metadata.putArray(key);
    ids.forEach(id -> list.add(id.value()));
    return metadata;
  }

  /// The metadata of a task that asks its parent agents. `first` is the first of them; null if
  /// there is none.
  public static ObjectNode ofAskingParent(@Nullable TaskId first, InputId input) {
    return Json.object()
        .put(BLOCKED_BY, first == null ? USER : first.value())
        .put(INPUT_ID, input.value());
  }

  /// The metadata of a task that reports its progress in percent.
  public static ObjectNode ofPercentage(int percentage) {
    return Json.object().put(PERCENTAGE, percentage);
  }

  /// The metadata of a supervisor that waits for the subtasks that it has created. `routing` is its
  /// decision; null if an earlier status has it.
  public static ObjectNode ofDelegation(@Nullable ObjectNode routing, List<TaskId> subtasks) {
    var metadata = routing == null ? Json.object() : ofRouting(routing);
    var ids = metadata.putArray(SUBTASK_IDS);
    subtasks.forEach(id -> ids.add(id.value()));
    return metadata;
  }

  /// The metadata of a task that decided which agents act.
  public static ObjectNode ofRouting(ObjectNode routing) {
    return Json.object().set(ROUTING, routing);
  }

  /// The metadata of a task that failed or was canceled.
  public static ObjectNode ofEnd(String reason) {
    return Json.object().put(REASON, reason);
  }

  /// The metadata of a task that was canceled before it started.
  public static ObjectNode ofNeverStarted(String reason) {
    return ofEnd(reason).put(STARTED, false);
  }
}
