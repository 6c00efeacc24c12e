package dev.parley.log;

import dev.parley.protocol.ContextId;
import java.sql.SQLException;

/// Where tests make a commit fail, or hold up the log.
interface Fault {

  /// No fault at all.
  Fault NONE = new Fault() {};

  /// Called before a commit is written.
  default void beforeCommit() throws SQLException {}

  /// Called before a context is sealed as part of a commit.
  default void beforeSeal(ContextId context) {}

  /// Called when a commit is durable, before that is known.
  default void afterCommit() throws SQLException {}

  /// Called before a page of the past is read.
  default void beforePage() {}
}
