package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.quoted;

import dev.parley.external.cli.CliSettings;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.server.ConfigFile.AgentSection;
import dev.parley.server.ConfigFile.IsolationSection;
import dev.parley.server.ContainmentConfig.LevelChoice;
import dev.parley.tool.process.ProcessIsolation;
import dev.parley.tool.process.ProcessIsolation.ProcessLimits;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads `isolation`, also of agents and MCP servers, and `untrusted`.
final class ContainmentReader {

  private static final Pattern SIZE = Pattern.compile("(\\d{1,9})([kmg])|0");
  private static final IsolationSection NOTHING =
      new IsolationSection(null, null, null, null, null, null, null, null, null, null);

  private final Path home;
  private final Path folder;
  private final ConfigProblems problems;
  private final IsolationSection common;

  /// Relative paths refer to `folder`, and `~` to `home`.
  ContainmentReader(ConfigFile file, Path home, Path folder, ConfigProblems problems) {
    this.home = home;
    this.folder = folder;
    this.problems = problems;
    this.common = or(file.isolation(), NOTHING);
  }

  /// `path` is the file of the configuration, and `own` collects the errors of an agent.
  ContainmentConfig read(
      ConfigFile file,
      @Nullable Path path,
      List<AgentConfig> agents,
      Function<AgentConfig, ConfigProblems> own) {
    var here = problems.under("isolation");
    var level = common.level();
    var stated =
        level == null
            ? null
            : here.collect(() -> ConfigProblem.choice("level", level, LevelChoice.class));
    return new ContainmentConfig(
        Optional.ofNullable(stated),
        merged(ProcessIsolation.COMMANDS, common, here),
        agents(file, agents, own),
        mcpServers(file),
        path == null ? List.of() : List.of(path.toAbsolutePath()),
        untrusted(file),
        false);
  }

  private Optional<Boolean> untrusted(ConfigFile file) {
    var section = file.untrusted();
    var effects = section == null ? null : section.effects();
    if (effects == null) {
      return Optional.empty();
    }
    if (!List.of("allow", "ask").contains(effects)) {
      problems.add(ConfigProblem.notOneOf("untrusted.effects", effects, List.of("allow", "ask")));
    }
    return Optional.of(effects.equals("ask"));
  }

  private Map<AgentTypeId, ProcessIsolation> agents(
      ConfigFile file, List<AgentConfig> agents, Function<AgentConfig, ConfigProblems> problemsOf) {
    var found = new HashMap<AgentTypeId, ProcessIsolation>();
    for (var agent : agents) {
      var section =
          or(file.agents(), List.<AgentSection>of()).stream()
              .filter(each -> agent.id().value().equals(each.id()))
              .findFirst()
              .map(AgentSection::isolation)
              .orElse(null);
      var own = problemsOf.apply(agent).under("isolation");
      var first =
          agent.kind() instanceof AgentKind.Cli(var settings)
              ? ProcessIsolation.AGENTS.withWritable(ownFiles(settings))
              : ProcessIsolation.COMMANDS;
      if (section != null || agent.kind() instanceof AgentKind.Cli) {
        found.put(agent.id(), overridden(first, section, own));
      }
    }
    return found;
  }

  private static List<Path> ownFiles(CliSettings settings) {
    return settings.program().ownFiles(settings.environment());
  }

  private Map<String, ProcessIsolation> mcpServers(ConfigFile file) {
    var found = new HashMap<String, ProcessIsolation>();
    var sections = file.mcpServers();
    if (sections != null) {
      sections.forEach(
          (name, section) -> {
            var own = problems.under("mcpServers." + name);
            var isolation = section == null ? null : section.isolation();
            if (isolation != null && section.url() != null) {
              own.add(invalid("isolation", "needs command; a server with a url runs elsewhere"));
            }
            found.put(
                name, overridden(ProcessIsolation.MCP_SERVERS, isolation, own.under("isolation")));
          });
    }
    return found;
  }

  /// Applies the common settings, and then those of one agent or MCP server.
  private ProcessIsolation overridden(
      ProcessIsolation first, @Nullable IsolationSection section, ConfigProblems own) {
    // Errors of the common section are reported once, for the common section.
    var base = merged(first, common, new ConfigProblems());
    if (section == null) {
      return base;
    }
    if (section.level() != null && !section.level().equals("none")) {
      own.add(
          invalid(
              "level",
              "must be none here, to run this program without isolation; the level of all others"
                  + " is isolation.level. Found "
                  + quoted(section.level())));
    }
    var merged = merged(base, section, own);
    return "none".equals(section.level()) ? merged.withoutIsolation() : merged;
  }

  private ProcessIsolation merged(
      ProcessIsolation base, IsolationSection section, ConfigProblems own) {
    var limits = base.limits();
    var processes = section.processes();
    if (processes != null && processes < 0) {
      own.add(invalid("processes", "must be at least 1, or 0 for no limit"));
    }
    return new ProcessIsolation(
        base.isolated(),
        or(section.network(), base.network()),
        or(section.ownServer(), base.ownServer()),
        base.folderWritable(),
        new ProcessLimits(
            size("memory", section.memory(), limits.memoryBytes(), own),
            or(processes, limits.processes()),
            or(section.cpuTime(), limits.cpuTime()),
            size("fileSize", section.fileSize(), limits.fileBytes(), own),
            size("temporarySize", section.temporarySize(), limits.temporaryBytes(), own)),
        paths(base.readable(), section.readable()),
        paths(base.writable(), section.writable()));
  }

  private List<Path> paths(List<Path> base, @Nullable List<String> more) {
    return Stream.concat(base.stream(), or(more, List.<String>of()).stream().map(this::path))
        .distinct()
        .toList();
  }

  /// A path relative to the folder of the server; `~` is the home folder.
  private Path path(String text) {
    return text.equals("~") || text.startsWith("~/")
        ? home.resolve(text.substring(Math.min(2, text.length()))).normalize()
        : folder.resolve(text).normalize();
  }

  private static long size(String key, @Nullable String text, long usual, ConfigProblems own) {
    if (text == null) {
      return usual;
    }
    var parts = SIZE.matcher(text);
    if (!parts.matches()) {
      own.add(
          invalid(
              key,
              "must be a number with the unit k, m or g, such as 512m or 4g, or 0 for no limit;"
                  + " found "
                  + quoted(text)));
      return usual;
    }
    if (parts.group(1) == null) {
      return 0;
    }
    var number = Long.parseLong(parts.group(1));
    return switch (parts.group(2)) {
      case "k" -> number << 10;
      case "m" -> number << 20;
      default -> number << 30;
    };
  }
}
