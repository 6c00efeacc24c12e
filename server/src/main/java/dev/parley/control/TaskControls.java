package dev.parley.control;

/// What controls the tasks of a server, besides their agents.
public record TaskControls(Pauses pauses, Budgets budgets, ApprovalRules rules) {

  /// The pauses and rules in this storage, and these budgets.
  ///
  /// @throws dev.parley.protocol.Rejection.Unavailable if it cannot be read
  public static TaskControls in(ControlStorage storage, Budgets budgets) {
    return new TaskControls(new Pauses(storage), budgets, new ApprovalRules(storage));
  }

  /// Controls that do nothing until somebody uses them, and that are kept in memory.
  public static TaskControls inMemory() {
    return in(ControlStorage.inMemory(), Budgets.none());
  }
}
