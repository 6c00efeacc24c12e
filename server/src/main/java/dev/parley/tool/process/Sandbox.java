package dev.parley.tool.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Starts programs so that they see only the files, processes and networks that they may use.
///
/// Linux namespaces do this, and resource limits bound what a program uses. Safe for use by many
/// threads.
public final class Sandbox {

  private static final Path PRLIMIT = Path.of("/usr/bin/prlimit");
  private static final Duration PROBE_MAX = Duration.ofSeconds(20);

  /// The exit code of a program that was not started because its isolation failed.
  static final int FAILED = 125;

  /// Joins the control groups whose files come before `--`, and executes what follows.
  private static final String JOIN =
      """
      while [ "$1" != -- ]; do
        echo 0 > "$1" || exit 125
        shift
      done
      shift
      exec "$@"
      """;

  private final IsolationLevel level;
  private final Path root;
  private final SandboxView.HiddenPaths hidden;
  private final ControlGroups controlGroups;

  private Sandbox(
      IsolationLevel level,
      Path root,
      SandboxView.HiddenPaths hidden,
      ControlGroups controlGroups) {
    this.level = level;
    this.root = root;
    this.hidden = hidden;
    this.controlGroups = controlGroups;
  }

  /// Without isolation.
  public static Sandbox none() {
    return new Sandbox(
        IsolationLevel.NONE,
        Path.of("/"),
        new SandboxView.HiddenPaths(List.of(), List.of()),
        ControlGroups.none());
  }

  /// A level of isolation that was tried on this machine: either `problem` is empty, or it says why
  /// the level does not work.
  public record SandboxTrial(Sandbox sandbox, String problem) {
    /// True if programs can be isolated this way.
    public boolean works() {
      return problem.isEmpty();
    }
  }

  /// Tries a level on this machine by running a program.
  ///
  /// @param root a folder that is created if necessary; the files of a program appear there, in its
  /// own namespace
  /// @param own paths that no program may see
  /// @param workspaces folders that only programs that work in them may see
  public static SandboxTrial open(
      IsolationLevel level, Path root, List<Path> own, List<Path> workspaces) {
    var id = "probe-" + ProcessHandle.current().pid() + "-" + Integer.toHexString(root.hashCode());
    var sandbox =
        new Sandbox(
            level,
            root.toAbsolutePath(),
            new SandboxView.HiddenPaths(own, workspaces),
            level == IsolationLevel.NONE ? ControlGroups.none() : ControlGroups.find(id));
    return new SandboxTrial(sandbox, level == IsolationLevel.NONE ? "" : sandbox.problem(id));
  }

  /// The level of isolation.
  public IsolationLevel level() {
    return level;
  }

  /// The level in one sentence, with its limits.
  public String description() {
    if (level == IsolationLevel.NONE) {
      return level.title();
    }
    return level.title()
        + (controlGroups.complete()
            ? "; memory and processes are limited per program, by control groups"
            : "; memory is limited per process, because control groups cannot be used")
        + (limitsProcesses() ? "" : "; the number of processes is NOT limited for the user root");
  }

  /// True if a program cannot start any number of processes. The kernel does not count those of
  /// root, except in control groups.
  boolean limitsProcesses() {
    return controlGroups.limitsProcesses() || !System.getProperty("user.name", "").equals("root");
  }

  /// The words that run a command in the sandbox.
  ///
  /// @throws IOException if the command cannot be isolated
  List<String> words(SandboxedProgram command, String id) throws IOException {
    var isolation = command.isolation();
    if (level == IsolationLevel.NONE || !isolation.isolated()) {
      return command.words();
    }
    var view = SandboxView.of(command, hidden);
    var words = new ArrayList<String>();
    var groups = controlGroups.create(id, isolation.limits());
    if (!groups.isEmpty()) {
      words.addAll(List.of("/bin/sh", "-c", JOIN, "parley"));
      groups.forEach(file -> words.add(file.toString()));
      words.add("--");
    }
    var limited = Stream.concat(limits(isolation.limits()).stream(), command.words().stream());
    words.addAll(
        switch (level) {
          case BUBBLEWRAP -> BubblewrapCommand.words(view, isolation, limited.toList());
          case UNSHARE -> UnshareCommand.words(root(), view, isolation, limited.toList());
          case NONE -> throw new IllegalStateException();
        });
    return words;
  }

  /// True if such a program can reach this server and may not use it.
  boolean excludes(ProcessIsolation isolation) {
    return level != IsolationLevel.NONE
        && isolation.isolated()
        && isolation.network()
        && !isolation.ownServer();
  }

  /// Forgets a program that has ended.
  void remove(String id) {
    controlGroups.remove(id);
  }

  private Path root() throws IOException {
    if (!Files.isDirectory(root)) {
      Files.createDirectories(root);
      Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
    }
    return root;
  }

  private List<String> limits(ProcessIsolation.ProcessLimits limits) {
    var words = new ArrayList<>(List.of(PRLIMIT.toString(), "--core=0"));
    add(words, "nproc", limits.processes());
    if (!controlGroups.complete()) {
      add(words, "data", limits.memoryBytes());
    }
    add(words, "fsize", limits.fileBytes());
    add(words, "cpu", limits.cpuTime().toSeconds());
    words.add("--");
    return words;
  }

  private static void add(List<String> words, String name, long value) {
    if (value > 0) {
      words.add("--" + name + "=" + value);
    }
  }

  /// Why a program cannot be run in this sandbox; empty if it can.
  private String problem(String id) {
    var program =
        switch (level) {
          case BUBBLEWRAP -> BubblewrapCommand.PROGRAM;
          case UNSHARE -> UnshareCommand.PROGRAM;
          case NONE -> PRLIMIT;
        };
    for (var needed : List.of(program, PRLIMIT)) {
      if (!Files.isExecutable(needed)) {
        return "there is no " + needed;
      }
    }
    try {
      var folder = Files.createTempDirectory("parley-probe");
      try {
        var command =
            new SandboxedProgram(
                List.of("/bin/sh", "-c", "echo works"),
                folder,
                Map.of("PATH", "/usr/bin:/bin"),
                ProcessIsolation.COMMANDS);
        return run(words(command, id), folder);
      } finally {
        Files.delete(folder);
        remove(id);
      }
    } catch (IOException | UncheckedIOException impossible) {
      return String.valueOf(impossible.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private static String run(List<String> words, Path folder)
      throws IOException, InterruptedException {
    var builder = new ProcessBuilder(words).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().put("PATH", "/usr/bin:/bin");
    var process = builder.redirectInput(Path.of("/dev/null").toFile()).start();
    if (!process.waitFor(PROBE_MAX.toSeconds(), TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      return "a program did not end";
    }
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.exitValue() == 0 && output.strip().equals("works")) {
      return "";
    }
    return output.isBlank()
        ? "a program ended with exit code " + process.exitValue()
        : output.strip().lines().reduce((first, last) -> last).orElse("");
  }
}
