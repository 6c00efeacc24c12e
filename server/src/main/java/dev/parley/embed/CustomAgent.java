package dev.parley.embed;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.WireName;
import dev.parley.task.Agent;
import dev.parley.task.Limits;
import dev.parley.task.TaskType;
import java.util.List;
import java.util.stream.Stream;

/// An agent that a program brings along, and what others may know of it.
///
/// The supervisor chooses it by `description` and `taskTypes`; other agents have it as the tool
/// `agent:ID`.
public record CustomAgent(
    AgentTypeId id, String name, String description, List<String> taskTypes, Making making) {

  /// Makes the agent when the server starts, within its limits.
  @FunctionalInterface
  public interface Making {

    /// The agent, which serves any number of tasks at once.
    Agent agent(Limits limits);
  }

  public CustomAgent {
    taskTypes = List.copyOf(taskTypes);
    taskTypes.forEach(type -> WireName.parse(TaskType.class, "taskTypes", type));
  }

  /// An agent that is one method. Its tasks end as interrupted when the server stops or crashes.
  public static CustomAgent of(String id, String description, Worker worker) {
    return new CustomAgent(
        new AgentTypeId(id),
        id,
        description,
        List.of(),
        limits -> new WorkerAgent(worker, limits.inputTimeout()));
  }

  /// An agent on the port beneath, which may say that it [resumes][Agent#resumes].
  public static CustomAgent onPort(String id, String description, Agent agent) {
    return new CustomAgent(new AgentTypeId(id), id, description, List.of(), _ -> agent);
  }

  /// The same, with a name for people.
  public CustomAgent called(String newName) {
    return new CustomAgent(id, newName, description, taskTypes, making);
  }

  /// The same, and the supervisor's rules give it tasks of these types.
  public CustomAgent taking(TaskType... types) {
    return new CustomAgent(
        id, name, description, Stream.of(types).map(TaskType::wire).toList(), making);
  }
}
