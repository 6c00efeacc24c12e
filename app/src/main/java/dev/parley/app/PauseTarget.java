package dev.parley.app;

import dev.parley.protocol.PauseView.PauseScope;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options that name what to pause or resume. At most one may be given.
final class PauseTarget {

  @Option(names = "--all", description = "Everything.")
  private boolean all;

  @Option(names = "--agent", paramLabel = "ID", description = "The tasks of this agent.")
  private @Nullable String agent;

  @Option(
      names = "--person",
      paramLabel = "NAME",
      description = "The tasks of this person or token, with all their sub-agents.")
  private @Nullable String person;

  @Option(names = "--tenant", paramLabel = "NAME", description = "The tasks of this tenant.")
  private @Nullable String tenant;

  /// True if no target is given.
  boolean missing() {
    return count() == 0;
  }

  /// Checks that there is at most one target.
  ///
  /// @throws CommandExit if there are more
  void check() {
    if (count() > 1) {
      throw new CommandExit(
          CommandExit.USAGE, "Give one of --all, --agent, --person and --tenant, not several.");
    }
  }

  private long count() {
    return Stream.of(agent, person, tenant).filter(name -> name != null).count() + (all ? 1 : 0);
  }

  PauseScope scope() {
    return agent != null
        ? PauseScope.AGENT
        : person != null ? PauseScope.PERSON : tenant != null ? PauseScope.TENANT : PauseScope.ALL;
  }

  @Nullable String name() {
    return agent != null ? agent : person != null ? person : tenant;
  }

  /// The id of the pause.
  String id() {
    var name = name();
    return name == null ? scope().wire() : scope().wire() + ":" + name;
  }
}
