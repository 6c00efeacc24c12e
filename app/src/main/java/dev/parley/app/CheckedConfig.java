package dev.parley.app;

import dev.parley.server.Config;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The configuration that `parley doctor` checks.
///
/// @param file null for the defaults
/// @param folder the folder that relative paths in the file start from
/// @param known false if a server runs, and its configuration may be another one
/// @param origin what the file is, or why there is none
record CheckedConfig(@Nullable Path file, Path folder, boolean known, String origin) {

  /// The file `given` or else the file of the running server.
  static CheckedConfig of(@Nullable Path given, Optional<ServerFile> running) {
    var here = Path.of("").toAbsolutePath();
    if (given != null) {
      return new CheckedConfig(given, here, true, given + " has no errors");
    }
    if (running.isEmpty()) {
      return new CheckedConfig(null, here, true, "none; all defaults apply");
    }
    var config = running.get().config();
    var folder = running.get().workingDirectory();
    if (config == null || folder == null) {
      return new CheckedConfig(
          null,
          here,
          false,
          "not known: the running server does not report its configuration file; pass it with"
              + " --config. The following checks assume the defaults");
    }
    if (config.isEmpty()) {
      return new CheckedConfig(
          null, Path.of(folder), true, "none; the running server uses the defaults");
    }
    return new CheckedConfig(
        Path.of(config), Path.of(folder), true, config + " of the running server has no errors");
  }

  /// Reads the configuration.
  ///
  /// @throws CommandExit if it has errors
  Config load(Map<String, String> environment) {
    return LocalServer.load(file, environment, folder);
  }
}
