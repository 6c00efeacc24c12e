package dev.parley.tool;

import dev.parley.protocol.WireName;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// A tool that an agent can call. A tool whose arguments are a record is a [TypedTool].
public interface Tool {

  /// The name by which a model calls it.
  String name();

  /// The description for the model.
  String description();

  /// The JSON Schema of its arguments.
  ObjectNode schema();

  /// What a call changes; this decides what happens to a call with an unknown outcome.
  Effect effect();

  /// Whether a call needs approval, unless a policy decides otherwise.
  default Permission permission() {
    return effect() == Effect.PURE ? Permission.ALLOW : Permission.ASK;
  }

  /// True if it may run in parallel with other calls of the same turn.
  boolean concurrent();

  /// The provider, as written to `tool-start`: `local`, `client`, `mcp` or the id of an agent.
  default String provider() {
    return "local";
  }

  /// False if the tool is not listed to models: it exists only for calls that started while it was
  /// listed.
  default boolean offered() {
    return true;
  }

  /// The names of those arguments of a call that only readers of internal events may see. Public
  /// events show the call without them.
  default List<String> privateArguments(ObjectNode arguments) {
    return List.of();
  }

  /// The preview for the person who approves a call: a command, a diff. Changes nothing.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if the arguments are invalid
  default Optional<String> preview(ObjectNode arguments, ToolContext context) {
    return Optional.empty();
  }

  /// What the call does if it is approved, in one line such as "Overwrites notes.txt". Changes
  /// nothing.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if the arguments are invalid
  default String summary(ObjectNode arguments, ToolContext context) {
    return CallSummary.of(effect());
  }

  /// Does the work. An interrupt ends it.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if the arguments are invalid; the model gets the
  /// message
  ToolResult call(ObjectNode arguments, ToolContext context) throws InterruptedException;

  /// What a call changes in the world.
  enum Effect implements WireName {
    /// Nothing: the call may run again.
    PURE,
    /// The same, however often the call runs with the same key.
    IDEMPOTENT,
    /// Something: the call never runs again.
    AT_MOST_ONCE,
    /// Something: a person must decide whether the call runs again.
    ASK
  }

  /// Whether a call may be made.
  enum Permission implements WireName {
    /// The call may be made.
    ALLOW,
    /// A person is asked first.
    ASK,
    /// The call may not be made.
    DENY
  }
}
