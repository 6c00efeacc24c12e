package dev.parley.server;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.WireName;
import dev.parley.tool.process.IsolationLevel;
import dev.parley.tool.process.ProcessIsolation;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// What limits the damage that agents can do: the isolation of their processes, and
/// approvals after they have read untrusted text.
///
/// @param level the level that the configuration states; empty if it states none
/// @param commands what commands of the shell tool may use
/// @param agents the same for agents with settings of their own
/// @param mcpServers what the processes of MCP servers may use, by the name of the server
/// @param hidden files that no program may see, such as that of the configuration
/// @param askAfterUntrusted whether calls with effects need approval after a task has read text that
/// nobody vouches for; empty if the configuration does not say it
/// @param severalTenants the server separates people who do not trust each other; the stored
/// identities say so, not the configuration
public record ContainmentConfig(
    Optional<LevelChoice> level,
    ProcessIsolation commands,
    Map<AgentTypeId, ProcessIsolation> agents,
    Map<String, ProcessIsolation> mcpServers,
    List<Path> hidden,
    Optional<Boolean> askAfterUntrusted,
    boolean severalTenants) {

  /// Without any settings.
  public static final ContainmentConfig DEFAULT =
      new ContainmentConfig(
          Optional.empty(),
          ProcessIsolation.COMMANDS,
          Map.of(),
          Map.of(),
          List.of(),
          Optional.empty(),
          false);

  public ContainmentConfig {
    agents = Map.copyOf(agents);
    mcpServers = Map.copyOf(mcpServers);
    hidden = List.copyOf(hidden);
  }

  /// A value of `isolation.level`.
  public enum LevelChoice implements WireName {
    /// The first of these that works: `bubblewrap`, `unshare`.
    AUTO(IsolationLevel.BUBBLEWRAP, IsolationLevel.UNSHARE),
    NONE(IsolationLevel.NONE),
    UNSHARE(IsolationLevel.UNSHARE),
    BUBBLEWRAP(IsolationLevel.BUBBLEWRAP);

    @SuppressWarnings("ImmutableEnumChecker") // Made by List.of.
    private final List<IsolationLevel> levels;

    LevelChoice(IsolationLevel... levels) {
      this.levels = List.of(levels);
    }

    List<IsolationLevel> levels() {
      return levels;
    }

    @Override
    public String wire() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// The level: that of the configuration, else none for one person, and the best for several.
  LevelChoice chosen() {
    return level.orElse(severalTenants ? LevelChoice.AUTO : LevelChoice.NONE);
  }

  /// True if calls with effects need approval after untrusted text.
  boolean asksAfterUntrusted() {
    return askAfterUntrusted.orElse(severalTenants);
  }

  /// True if another tenant may be created while the server runs: with several tenants at the start,
  /// or if the settings that then have other defaults are stated.
  boolean acceptsTenants() {
    return severalTenants || (level.isPresent() && askAfterUntrusted.isPresent());
  }

  /// The same settings, for a server with several tenants or with one.
  ContainmentConfig with(boolean newSeveralTenants) {
    return new ContainmentConfig(
        level, commands, agents, mcpServers, hidden, askAfterUntrusted, newSeveralTenants);
  }
}
