package dev.parley.tool;

import dev.parley.protocol.WireName;

/// Something an agent can call; `A` is the record of its arguments.
public interface Tool<A extends Record> {

  /// The name a model calls it by.
  String name();

  /// What it does, for a model to read.
  String description();

  /// The record that its arguments fill.
  Class<A> arguments();

  /// What may be done with a call of which nobody knows whether it happened.
  Effect effect();

  /// True if it may run beside other calls of the same turn.
  boolean concurrent();

  /// Does the work. An interrupt ends it.
  ToolResult call(A arguments, ToolContext context) throws InterruptedException;

  /// What a call changes in the world.
  enum Effect implements WireName {
    /// Nothing: it may run again.
    PURE,
    /// The same, however often it runs with the same key.
    IDEMPOTENT,
    /// Something: it never runs again.
    AT_MOST_ONCE,
    /// Something a person must decide about.
    ASK
  }
}
