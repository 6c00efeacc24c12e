package dev.parley.embed;

import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Agent;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskType;
import java.util.List;
import java.util.stream.Stream;

/// An agent that an embedding program provides, with its description for people and other agents.
///
/// The supervisor chooses it by `description` and `taskTypes`; other agents call it as the tool
/// `agent_ID`.
public record CustomAgent(
    AgentTypeId id,
    String name,
    String description,
    List<String> taskTypes,
    CustomAgentFactory factory) {

  /// Creates the agent when the server starts, given the server's limits.
  @FunctionalInterface
  public interface CustomAgentFactory {

    /// The agent, which runs any number of tasks in parallel.
    Agent create(TaskLimits taskLimits);
  }

  public CustomAgent {
    taskTypes = List.copyOf(taskTypes);
    taskTypes.forEach(TaskType::new);
  }

  /// An agent that is one method. Its tasks fail with `interrupted` when the server stops or
  /// crashes.
  public static CustomAgent of(String id, String description, Worker worker) {
    return new CustomAgent(
        new AgentTypeId(id),
        id,
        description,
        List.of(),
        taskLimits -> new WorkerAgent(worker, taskLimits.inputTimeout()));
  }

  /// An agent that implements [Agent] directly, and may [resume][Agent#resumes] tasks.
  public static CustomAgent ofAgent(String id, String description, Agent agent) {
    return new CustomAgent(new AgentTypeId(id), id, description, List.of(), _ -> agent);
  }

  /// The same agent with a display name.
  public CustomAgent withName(String newName) {
    return new CustomAgent(id, newName, description, taskTypes, factory);
  }

  /// The same agent; the supervisor's rules route tasks of these types to it.
  public CustomAgent withTaskTypes(TaskType... types) {
    return new CustomAgent(
        id, name, description, Stream.of(types).map(TaskType::value).toList(), factory);
  }
}
