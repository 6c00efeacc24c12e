package dev.parley.runtime;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/// A `main` of the tests, to be run in a process of its own.
public final class TestProgram {

  private TestProgram() {}

  /// The command that runs `main` with the class path of the tests, in any working directory.
  public static ProcessBuilder command(Class<?> main, String... arguments) {
    var command = new ArrayList<>(List.of(java(), "--enable-native-access=ALL-UNNAMED"));
    // The process is too short-lived for the optimizing compiler.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", classPath(), main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command);
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /// Surefire starts its processes with a jar that only names the real class path.
  private static String classPath() {
    var paths =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Arrays.stream(paths.split(File.pathSeparator))
        .map(path -> Path.of(path).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }
}
