package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.sql.SQLException;

/// Hooks by which tests make a commit fail, or delay the log.
interface FaultInjector {

  /// Injects nothing.
  FaultInjector NONE = new FaultInjector() {};

  /// Called before a commit is written.
  default void beforeCommit() throws SQLException {}

  /// Called before a context is sealed as part of a commit.
  default void beforeSeal(ContextId context) {}

  /// Called when a commit is durable, but before its appends are acknowledged.
  default void afterCommit() throws SQLException {}

  /// Called before a page of older entries is read.
  default void beforePage() {}
}
