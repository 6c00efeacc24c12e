package dev.parley.server;

import dev.parley.protocol.Rejection;
import dev.parley.tool.process.IsolationLevel;
import dev.parley.tool.process.Sandbox;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Chooses the isolation of processes for a configuration, and reports it.
final class Isolation {

  private static final System.Logger LOG = System.getLogger(Isolation.class.getName());

  /// The code of the rejection for a machine that cannot isolate processes.
  static final String UNAVAILABLE = "isolation-unavailable";

  private Isolation() {}

  /// The sandbox for the programs of a server.
  ///
  /// @throws Rejection.Invalid if the configuration needs isolation and this machine does not support
  /// it
  static Sandbox open(Config config) {
    var several = config.containment().severalTenants();
    var choice = config.containment().chosen();
    var problems = new ArrayList<String>();
    for (var level : choice.levels()) {
      var trial = tryLevel(config, level, config.data().resolve("isolation"));
      if (trial.works()) {
        report(trial.sandbox(), several, problems);
        return trial.sandbox();
      }
      problems.add(level.wire() + ": " + trial.problem());
    }
    throw new Rejection.Invalid(
        UNAVAILABLE,
        (several
                ? "several tenants need isolation of the programs that agents run"
                : "isolation.level is " + choice.wire())
            + ", but this machine cannot isolate programs ("
            + String.join("; ", problems)
            + "). Install bubblewrap and allow user namespaces, see docs/isolation.md; or set"
            + " isolation.level to none, if every person may do what the user of the server can");
  }

  /// Tries a level for the data folder and the workspaces of a configuration.
  static Sandbox.SandboxTrial tryLevel(Config config, IsolationLevel level, Path root) {
    if (level == IsolationLevel.NONE) {
      return new Sandbox.SandboxTrial(Sandbox.none(), "");
    }
    var own =
        Stream.concat(Stream.of(config.data()), config.secretFiles())
            .map(Path::toAbsolutePath)
            .toList();
    return Sandbox.open(level, root, own, config.workspaces());
  }

  private static void report(Sandbox sandbox, boolean several, List<String> problems) {
    var level = sandbox.level();
    if (level != IsolationLevel.NONE) {
      LOG.log(
          Level.INFO,
          "isolation of programs: {0}{1}",
          sandbox.description(),
          problems.isEmpty() ? "" : " (not available: " + String.join("; ", problems) + ")");
    } else if (several) {
      LOG.log(
          Level.WARNING,
          "isolation of programs: {0}, and several tenants use this server, because isolation.level"
              + " is none",
          level.title());
    }
  }
}
