package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.ContextId;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The context that a command is about: an id, the beginning of one, or the one that changed last.
final class ContextChoice {

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "CONTEXT",
      description = "The context: its id, or the first 4 or more characters of it.")
  private @Nullable String context;

  @Option(names = "--last", description = "The context that changed last, instead of CONTEXT.")
  private boolean last;

  /// @throws Exit if none was named, or several begin with what was typed
  ContextId find(ParleyClient client) {
    if (last) {
      if (context != null) {
        throw new Exit(Exit.USAGE, "Give either CONTEXT or --last, not both.");
      }
      return new Lookup(client).last();
    }
    return find(client, context);
  }

  /// The context that `typed` stands for.
  ///
  /// @throws Exit if it is missing, or several begin like this
  static ContextId find(ParleyClient client, @Nullable String typed) {
    if (typed == null) {
      throw new Exit(Exit.USAGE, "Which context? Give its CONTEXT id, or --last.");
    }
    return new Lookup(client).context(typed);
  }
}
