package dev.parley.mcp;

import dev.parley.tool.ToolContext;
import java.util.Collection;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// Finds the call that a question of a server belongs to when the server does not specify it.
final class Origins {

  private Origins() {}

  /// The only open call; or the newest one, if all are made for the same owner in the same context.
  /// Otherwise null: a question must not be shown to the wrong person.
  static @Nullable Exchange guess(Collection<Exchange> open) {
    var calls = open.stream().filter(exchange -> exchange.context().isPresent()).toList();
    var people =
        calls.stream().map(exchange -> whose(exchange.context().orElseThrow())).distinct().count();
    return people == 1
        ? calls.stream().max(Comparator.comparingLong(Exchange::id)).orElseThrow()
        : null;
  }

  private record Whose(String owner, Object context) {}

  private static Whose whose(ToolContext context) {
    return new Whose(context.owner(), context.context());
  }
}
