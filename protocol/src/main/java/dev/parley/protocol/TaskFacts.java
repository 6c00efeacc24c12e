package dev.parley.protocol;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of `task-created` says. The keys are known only here.
public final class TaskFacts {

  private static final String AGENT_ID = "agentId";
  private static final String MODEL = "model";
  private static final String HOSTED = "hosted";
  private static final String WHEN_BUSY = "whenBusy";
  private static final String INTERRUPT = "interrupt";
  private static final String STRATEGY = "strategy";
  private static final String CLIENT_TOOLS = "clientTools";
  private static final String HISTORY = "history";
  private static final String GROUNDING = "grounding";
  private static final String PREVIOUS_RESULTS = "previousResults";
  private static final String PARENT_RUN_ID = "parentRunId";
  private static final String CLIENT = "client";
  private static final String IMPORTED = "imported";
  private static final String RAW = "raw";
  private static final String RAW_ALL = "all";
  private static final String OVERRIDES = "cli";
  private static final String ACCOUNT = "account";
  private static final String PRINCIPAL = "principal";
  private static final String LOCAL = "local";
  private static final String TENANT = "tenant";
  private static final String CREDENTIAL = "credential";

  private final MetadataFields fields;

  private TaskFacts(@Nullable ObjectNode metadata) {
    fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a new task, or of a task as a whole.
  public static TaskFacts of(@Nullable ObjectNode metadata) {
    return new TaskFacts(metadata);
  }

  /// The agent of the parent runs the task, and the server does not.
  public boolean hosted() {
    return fields.isTrue(HOSTED);
  }

  /// The task interrupts the running one, and runs before other waiting tasks.
  public boolean interrupts() {
    return fields.text(WHEN_BUSY).filter(INTERRUPT::equals).isPresent();
  }

  /// The strategy that the message asks a supervisor for.
  public Optional<RoutingStrategy> strategy() {
    return fields.text(STRATEGY).flatMap(name -> WireName.find(RoutingStrategy.class, name));
  }

  /// The tools that the client provides and runs.
  public List<JsonNode> clientTools() {
    return fields.values(CLIENT_TOOLS);
  }

  /// The prompt of the task includes the messages of the context.
  public boolean history() {
    return fields.isTrue(HISTORY);
  }

  /// Information from the client's application, each with a `description` and a `value`.
  public List<JsonNode> grounding() {
    return fields.values(GROUNDING);
  }

  /// The origin of the information from the client's application, if there is any.
  public Optional<TextOrigin> givenText() {
    return grounding().isEmpty()
        ? Optional.empty()
        : Optional.of(new TextOrigin(TextOrigin.TextSource.APPLICATION, "context"));
  }

  /// The results of the earlier tasks of the same call.
  public List<JsonNode> previousResults() {
    return fields.values(PREVIOUS_RESULTS);
  }

  /// The same results as one list, if there are any.
  public Optional<JsonNode> previousResultList() {
    return Optional.of(fields.value(PREVIOUS_RESULTS)).filter(list -> !list.isMissingNode());
  }

  /// The client's id for the run.
  public Optional<String> runId() {
    return fields.text(MetadataFields.RUN_ID);
  }

  /// The client's id for the run that this one continues.
  public Optional<String> parentRunId() {
    return fields.text(PARENT_RUN_ID);
  }

  /// The client's own metadata, unchanged.
  public Optional<ObjectNode> client() {
    return fields.object(CLIENT);
  }

  /// A client runs the task, and the server only stores it.
  public boolean imported() {
    return fields.isTrue(IMPORTED);
  }

  /// The log keeps every line of the agent's program.
  public boolean keepsAllLines() {
    return fields.text(RAW).filter(RAW_ALL::equals).isPresent();
  }

  /// The settings that override those of the agent's program; empty if there are none.
  public JsonNode overrides() {
    return fields.value(OVERRIDES);
  }

  /// Who is responsible for a root task. Missing if that is the owner of the context, or if an
  /// earlier version created the task; a subtask has the account of its root task.
  public Optional<TaskAccount> account() {
    return fields
        .object(ACCOUNT)
        .map(
            json ->
                new TaskAccount(
                    json.path(PRINCIPAL).asString(""),
                    json.path(TENANT).asString(null),
                    json.path(CREDENTIAL).asString(null)));
  }

  /// The fields that only the API of that name writes and reads.
  public Optional<ObjectNode> extension(String api) {
    return fields.object(api);
  }

  /// Adds the agent, and its model if it is known.
  public static void putAgent(ObjectNode metadata, AgentTypeId agent, @Nullable String model) {
    metadata.put(AGENT_ID, agent.value());
    if (model != null) {
      metadata.put(MODEL, model);
    }
  }

  /// Replaces who is responsible for the task. Nothing is written for the person who uses a server
  /// alone, and a client's own value is never kept.
  public static void setAccount(ObjectNode metadata, TaskAccount account) {
    metadata.remove(ACCOUNT);
    if (account.equals(TaskAccount.of(LOCAL))) {
      return;
    }
    var json = metadata.putObject(ACCOUNT).put(PRINCIPAL, account.principal());
    if (account.tenant() != null) {
      json.put(TENANT, account.tenant());
    }
    if (account.credential() != null) {
      json.put(CREDENTIAL, account.credential());
    }
  }

  /// Marks a task that the agent of the parent runs.
  public static void putHosted(ObjectNode metadata) {
    metadata.put(HOSTED, true);
  }

  /// Marks a task that interrupts the running one.
  public static void putInterrupts(ObjectNode metadata) {
    metadata.put(WHEN_BUSY, INTERRUPT);
  }

  /// Adds the strategy for a supervisor.
  public static void putStrategy(ObjectNode metadata, RoutingStrategy strategy) {
    metadata.put(STRATEGY, strategy.wire());
  }

  /// Adds the tools of the client.
  public static void putClientTools(ObjectNode metadata, List<? extends JsonNode> tools) {
    metadata.putArray(CLIENT_TOOLS).addAll(tools);
  }

  /// Adds information from the client's application.
  public static void putGrounding(ObjectNode metadata, List<? extends JsonNode> entries) {
    metadata.putArray(GROUNDING).addAll(entries);
  }

  /// Adds the results of the earlier tasks of the same call.
  public static void putPreviousResults(ObjectNode metadata, List<? extends JsonNode> results) {
    metadata.putArray(PREVIOUS_RESULTS).addAll(results);
  }

  /// Adds the client's ids for the run and for the run that it continues.
  public static void putRun(ObjectNode metadata, String run, @Nullable String parent) {
    metadata.put(MetadataFields.RUN_ID, run);
    if (parent != null) {
      metadata.put(PARENT_RUN_ID, parent);
    }
  }

  /// Makes the log keep every line of the agent's program.
  public static void putKeepsAllLines(ObjectNode metadata) {
    metadata.put(RAW, RAW_ALL);
  }

  /// Adds the client's own metadata.
  public static void putClient(ObjectNode metadata, ObjectNode client) {
    metadata.set(CLIENT, client);
  }

  /// Adds settings that override those of the agent's program.
  public static void putOverrides(ObjectNode metadata, ObjectNode overrides) {
    metadata.set(OVERRIDES, overrides);
  }

  /// The metadata of a task that a client runs.
  public static ObjectNode ofImported() {
    return Json.object().put(IMPORTED, true);
  }

  /// The metadata of a subtask that works as this task would: with the messages of the context, the
  /// client's tools and the grounding.
  public ObjectNode ofDelegate() {
    var metadata = Json.object().put(HISTORY, true);
    for (var key : List.of(CLIENT_TOOLS, GROUNDING)) {
      if (fields.has(key)) {
        metadata.set(key, fields.value(key));
      }
    }
    return metadata;
  }
}
