package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.sql.SQLException;

/// Hooks by which a test makes a [FaultyStore] fail or wait.
interface FaultInjector {

  /// Injects nothing.
  FaultInjector NONE = new FaultInjector() {};

  /// Called before a commit is written. An exception means: not written.
  default void beforeCommit() throws SQLException {}

  /// Called for each context that a commit seals, before the commit is written.
  default void beforeSeal(ContextId context) {}

  /// Called when a commit is durable. An exception leaves it in doubt.
  default void afterCommit() throws SQLException {}

  /// Called before a page of older entries is read.
  default void beforePage() {}
}
