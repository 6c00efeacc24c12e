package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.ContextId;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The context argument of a command: an id, the first characters of one, or `--last`.
final class ContextArgument {

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "CONTEXT",
      description = "The context: its id, or the first 4 or more characters of it.")
  private @Nullable String context;

  @Option(names = "--last", description = "The context that changed last, instead of CONTEXT.")
  private boolean last;

  /// @throws Exit if no context is given, or several ids begin with the typed characters
  ContextId find(ParleyClient client) {
    if (last) {
      if (context != null) {
        throw new CommandExit(CommandExit.USAGE, "Give either CONTEXT or --last, not both.");
      }
      return new IdLookup(client).last();
    }
    return find(client, context);
  }

  /// The context with the id `typed`, or whose id begins with it.
  ///
  /// @throws Exit if `typed` is null, or several ids begin with it
  static ContextId find(ParleyClient client, @Nullable String typed) {
    if (typed == null) {
      throw new CommandExit(CommandExit.USAGE, "Which context? Give its CONTEXT id, or --last.");
    }
    return new IdLookup(client).context(typed);
  }
}
