package dev.parley.tool;

import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// A tool whose arguments are the record `A`, from which its schema is derived.
public interface TypedTool<A extends Record> extends Tool {

  /// The record type of its arguments.
  Class<A> arguments();

  /// Does the work; see [Tool#call(ObjectNode, ToolContext)].
  ToolResult call(A arguments, ToolContext context) throws InterruptedException;

  /// The preview for the person who approves a call; see [Tool#preview(ObjectNode, ToolContext)].
  default Optional<String> preview(A arguments, ToolContext context) {
    return Optional.empty();
  }

  @Override
  default Optional<String> preview(ObjectNode arguments, ToolContext context) {
    return preview(ArgumentsSchema.read(arguments, arguments()), context);
  }

  /// What the call does if it is approved; see [Tool#summary(ObjectNode, ToolContext)].
  default String summary(A arguments, ToolContext context) {
    return CallSummary.of(effect());
  }

  @Override
  default String summary(ObjectNode arguments, ToolContext context) {
    return summary(ArgumentsSchema.read(arguments, arguments()), context);
  }

  @Override
  default ObjectNode schema() {
    return ArgumentsSchema.of(arguments());
  }

  @Override
  default ToolResult call(ObjectNode arguments, ToolContext context) throws InterruptedException {
    return call(ArgumentsSchema.read(arguments, arguments()), context);
  }
}
