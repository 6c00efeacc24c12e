package dev.parley.mcp;

import dev.parley.tool.ToolContext;
import java.util.Collection;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// Whom a server's question is for when the server does not say.
final class Origins {

  private Origins() {}

  /// The only call under way; or the newest, if all are made for the same person in the same context.
  /// Else none: a question must not reach somebody it is not meant for.
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
