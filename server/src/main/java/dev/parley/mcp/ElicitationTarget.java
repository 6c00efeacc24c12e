package dev.parley.mcp;

import dev.parley.tool.ToolContext;
import java.util.Collection;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// Finds the call that a question of a server belongs to when the server does not specify it.
final class ElicitationTarget {

  private ElicitationTarget() {}

  /// The only open call; or the newest one, if all are made for the same owner in the same context.
  /// Otherwise null: a question must not be shown to the wrong person.
  static @Nullable McpRequest guess(Collection<McpRequest> open) {
    var calls = open.stream().filter(mcpRequest -> mcpRequest.context().isPresent()).toList();
    var people =
        calls.stream()
            .map(mcpRequest -> ownerOf(mcpRequest.context().orElseThrow()))
            .distinct()
            .count();
    return people == 1
        ? calls.stream().max(Comparator.comparingLong(McpRequest::id)).orElseThrow()
        : null;
  }

  private record CallOwner(String owner, Object context) {}

  private static CallOwner ownerOf(ToolContext context) {
    return new CallOwner(context.owner(), context.context());
  }
}
