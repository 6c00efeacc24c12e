package dev.parley.control;

/// What controls the tasks of a server, besides their agents.
public record TaskControls(Pauses pauses, Budgets budgets) {

  /// Controls that do nothing until somebody uses them, and that are kept in memory.
  public static TaskControls inMemory() {
    return new TaskControls(new Pauses(ControlStorage.inMemory()), Budgets.none());
  }
}
