package dev.parley.protocol;

/// Identifies one unit of agent work.
public record TaskId(String value) implements Id {

  public TaskId {
    Id.check("taskId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
