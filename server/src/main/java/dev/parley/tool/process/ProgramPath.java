package dev.parley.tool.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Finds the file of a program the way a shell does.
public final class ProgramPath {

  private ProgramPath() {}

  /// The file of the program `name`: relative to `folder` if the name contains a slash, otherwise
  /// on the `PATH` of the environment. Empty if there is no executable file.
  public static Optional<Path> find(String name, Map<String, String> environment, Path folder) {
    if (name.contains(File.separator)) {
      return resolve(folder, name).filter(ProgramPath::isExecutable);
    }
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .filter(each -> !each.isEmpty() && !name.isEmpty())
        .flatMap(each -> resolve(folder, each).flatMap(found -> resolve(found, name)).stream())
        .filter(ProgramPath::isExecutable)
        .findFirst();
  }

  private static Optional<Path> resolve(Path folder, String name) {
    try {
      return Optional.of(folder.resolve(name));
    } catch (InvalidPathException noPath) {
      return Optional.empty();
    }
  }

  private static boolean isExecutable(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
