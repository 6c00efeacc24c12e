package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.tool.process.ManagedProcess;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand;
import dev.parley.tool.process.ProcessIsolation;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// `shell`: runs a command in the working directory.
///
/// Without isolation, a command can do what the user of the server can. So a person must approve it.
/// Processes that the command starts end with it.
public final class ShellTool extends BuiltInTool<ShellTool.Arguments> {

  private static final String DESCRIPTION =
      "Runs a command line with bash or sh in the working directory. There is no input and no"
          + " terminal. Returns {exitCode, output}; output includes standard error, and only the"
          + " beginning and the end of a long output. A command may take 2 minutes, or timeoutMs,"
          + " at most 600000. Background processes that it leaves are stopped when it ends.";

  /// The encoding in which Java passes arguments to programs.
  private static final Charset PASSED_TO_PROGRAMS =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"), StandardCharsets.US_ASCII);

  private static final Duration TIME_USUAL = Duration.ofMinutes(2);
  private static final Duration TIME_MAX = Duration.ofMinutes(10);
  private static final Duration PROGRESS_INTERVAL = Duration.ofSeconds(1);
  // How long to wait for output after the end: another process may hold the pipe.
  private static final Duration DRAIN = Duration.ofMillis(300);

  /// How long reading the rest of the pipe may take after all writers have ended.
  private static final Duration REST = Duration.ofSeconds(3);

  private static final int COMMAND_MAX = 100_000;
  private static final int HEAD_BYTES = 10_000;
  private static final int TAIL_BYTES = 20_000;

  /// The environment variables of the server that a command can see. Model keys are not included.
  private static final Set<String> PASSED_ON =
      Set.of("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER", "LOGNAME");

  private static final String PATH_USUAL = "/usr/local/bin:/usr/bin:/bin";

  private final ManagedProcesses managedProcesses;
  private final Map<String, String> environment;
  private final Time time;
  private final Threads threads;
  private final List<String> shell;
  private final ProcessIsolation isolation;

  /// `environment` is the complete environment of commands; see [#environment].
  public ShellTool(
      ManagedProcesses managedProcesses,
      Map<String, String> environment,
      Time time,
      Threads threads) {
    this(managedProcesses, environment, time, threads, ProcessIsolation.COMMANDS);
  }

  /// `isolation` is what commands may use if processes are isolated.
  public ShellTool(
      ManagedProcesses managedProcesses,
      Map<String, String> environment,
      Time time,
      Threads threads,
      ProcessIsolation isolation) {
    super("shell", Effect.AT_MOST_ONCE, Arguments.class, DESCRIPTION);
    this.managedProcesses = managedProcesses;
    this.isolation = isolation;
    this.time = time;
    this.threads = threads;
    this.environment = Map.copyOf(environment);
    var bash = Path.of("/bin/bash");
    this.shell = List.of(Files.isExecutable(bash) ? bash.toString() : "/bin/sh", "-c");
  }

  /// The environment of commands: a fixed list of names from `all`, and those in `more`.
  public static Map<String, String> environment(Map<String, String> all, Set<String> more) {
    var some = new HashMap<String, String>();
    some.put("PATH", PATH_USUAL);
    all.forEach(
        (name, value) -> {
          if (PASSED_ON.contains(name) || more.contains(name)) {
            some.put(name, value);
          }
        });
    some.put("TERM", "dumb");
    return some;
  }

  /// The same tool for an agent whose commands may use this.
  public ShellTool with(ProcessIsolation other) {
    return new ShellTool(managedProcesses, environment, time, threads, other);
  }

  /// The command and its time limit.
  public record Arguments(String command, @Nullable Integer timeoutMs) {}

  @Override
  public Optional<String> preview(Arguments arguments, ToolContext context) {
    return Optional.of("$ " + arguments.command());
  }

  @Override
  public String summary(Arguments arguments, ToolContext context) {
    return CallSummary.COMMAND;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) throws InterruptedException {
    var command = arguments.command();
    var time = arguments.timeoutMs() == null ? TIME_USUAL.toMillis() : arguments.timeoutMs();
    if (command.isBlank() || command.indexOf('\0') >= 0) {
      return new ToolResult.Failed("command must not be blank or contain NUL");
    }
    if (command.getBytes(StandardCharsets.UTF_8).length > COMMAND_MAX) {
      return new ToolResult.Failed(
          "a command may have at most " + COMMAND_MAX + " bytes; write a script and run it");
    }
    if (!PASSED_TO_PROGRAMS.newEncoder().canEncode(command)) {
      // Java would replace them by question marks, which are wildcards of the shell.
      return new ToolResult.Failed(
          "the server's locale ("
              + PASSED_TO_PROGRAMS
              + ") cannot pass some characters of the command to a program;"
              + " start the server with LANG=C.UTF-8");
    }
    if (time < 1 || time > TIME_MAX.toMillis()) {
      return new ToolResult.Failed("timeoutMs must be 1 to " + TIME_MAX.toMillis());
    }
    var visible = new HashMap<>(environment);
    visible.put("PARLEY_CALL", context.key());
    var words = List.of(shell.getFirst(), shell.getLast(), command);
    var whole =
        new ProcessCommand(
            words,
            context.workingDirectory(),
            visible,
            ProcessCommand.ProcessStreams.OUTPUT_ONLY,
            isolation);
    try (var managedProcess = managedProcesses.start(whole)) {
      return run(managedProcess, Duration.ofMillis(time), context);
    } catch (IOException impossible) {
      return new ToolResult.Failed("the command could not be started: " + impossible.getMessage());
    }
  }

  private ToolResult run(ManagedProcess managedProcess, Duration timeMax, ToolContext context)
      throws InterruptedException {
    var output = new OutputExcerpt(HEAD_BYTES, TAIL_BYTES);
    // If a process escapes and keeps the pipe open, this thread lives until that process ends.
    var reader =
        threads.startPlatform(
            "shell-" + managedProcess.pid(), () -> output.fill(managedProcess.output()));
    var inTime = await(managedProcess, timeMax, output, context);
    reader.join(inTime ? DRAIN : Duration.ofMillis(1));
    managedProcess.close();
    reader.join(REST);
    if (!inTime) {
      return new ToolResult.Failed(
          "the command was stopped after %d ms. Its output:\n%s"
              .formatted(timeMax.toMillis(), output.text()));
    }
    var result =
        Json.object().put("exitCode", managedProcess.exitCode()).put("output", output.text());
    if (output.leftOut() > 0) {
      result.put("bytesLeftOut", output.leftOut());
    }
    return new ToolResult.Done(result);
  }

  /// Waits for the end, and regularly reports the last line of output as progress. False if the
  /// time is up.
  private boolean await(
      ManagedProcess managedProcess, Duration timeMax, OutputExcerpt output, ToolContext context)
      throws InterruptedException {
    var deadline = time.deadline(timeMax);
    var told = 0L;
    while (true) {
      var last = time.remaining(deadline) <= PROGRESS_INTERVAL.toNanos();
      if (managedProcess.awaitUntil(time, last ? deadline : time.deadline(PROGRESS_INTERVAL))) {
        return true;
      }
      if (last) {
        return false;
      }
      if (output.size() > told) {
        told = output.size();
        // The progress of a command is unknown: the elapsed time does not indicate it.
        var metadata = Json.object().put("stage", "running").put("bytes", told);
        context.progress(0, output.lastLine(), metadata);
      }
    }
  }
}
