package dev.parley.tool;

import dev.parley.protocol.WireName;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Something an agent can call. One whose arguments are a record is a [TypedTool].
public interface Tool {

  /// The name a model calls it by.
  String name();

  /// What it does, for a model to read.
  String description();

  /// The JSON Schema of its arguments.
  ObjectNode schema();

  /// What may be done with a call of which nobody knows whether it happened.
  Effect effect();

  /// Whether it may run without asking, unless a policy says otherwise.
  default Permission permission() {
    return effect() == Effect.PURE ? Permission.ALLOW : Permission.ASK;
  }

  /// True if it may run beside other calls of the same turn.
  boolean concurrent();

  /// Who provides it, as told in `tool-start`: `local`, `client`, `mcp` or an agent's id.
  default String provider() {
    return "local";
  }

  /// False if models are not told of it: it is there for calls that began when they were.
  default boolean offered() {
    return true;
  }

  /// What a person sees who is asked whether this call may be made: a command, a diff. Changes nothing.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if the arguments do not fit
  default Optional<String> preview(ObjectNode arguments, ToolContext context) {
    return Optional.empty();
  }

  /// What the call does if a person approves it, in one line such as "Overwrites notes.txt". Changes
  /// nothing.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if the arguments do not fit
  default String summary(ObjectNode arguments, ToolContext context) {
    return CallSummary.of(effect());
  }

  /// Does the work. An interrupt ends it.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if the arguments do not fit; the model is told why
  ToolResult call(ObjectNode arguments, ToolContext context) throws InterruptedException;

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

  /// Whether a call may be made.
  enum Permission implements WireName {
    /// It may.
    ALLOW,
    /// A person is asked first.
    ASK,
    /// It may not.
    DENY
  }
}
