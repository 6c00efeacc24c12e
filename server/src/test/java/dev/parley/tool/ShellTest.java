package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.tool.process.LivingProcesses;
import dev.parley.tool.process.ManagedProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

@Timeout(60)
class ShellTest {

  private static final String WRITE_PID = "echo $$ > pid.new; mv pid.new pid; ";

  @TempDir Path folder;
  @TempDir Path data;

  private final AtomicInteger ids = new AtomicInteger();
  private final ManualTime time = new ManualTime();
  private ManagedProcesses managedProcesses;
  private FakeToolContext fakeToolContext;
  private ShellTool shellTool;

  @BeforeEach
  void open() throws IOException {
    managedProcesses =
        new ManagedProcesses(data.resolve("children"), () -> "c" + ids.incrementAndGet());
    fakeToolContext = FakeToolContext.in(folder);
    var surroundings = new HashMap<>(System.getenv());
    surroundings.put("ANTHROPIC_API_KEY", "very-secret");
    surroundings.put("EXTRA", "extra");
    shellTool =
        new ShellTool(
            managedProcesses,
            ShellTool.environment(surroundings, Set.of("EXTRA")),
            time,
            new SystemThreads());
  }

  @AfterEach
  void close() {
    managedProcesses.close();
  }

  @Test
  void a_command_runs_in_the_folder_and_says_how_it_ended() throws Exception {
    var result = done("echo hi > made; pwd; echo oops >&2; echo end; exit 3");

    assertThat(result.path("exitCode").asInt()).isEqualTo(3);
    assertThat(result.path("output").asString())
        .isEqualTo(fakeToolContext.workingDirectory() + "\noops\nend\n");
    assertThat(folder.resolve("made")).hasContent("hi");
    assertThat(data.resolve("children")).isEmptyDirectory();
  }

  @Test
  void the_environment_is_clean_and_there_is_no_input() throws Exception {
    var output = done("env; cat; tty").path("output").asString();

    assertThat(output)
        .contains("TERM=dumb", "EXTRA=extra", "PARLEY_CALL=task/call", "PATH=", "not a tty")
        .doesNotContain("very-secret", "JAVA_HOME");
    assertThat(ShellTool.environment(Map.of("X_KEY", "x"), Set.of()))
        .containsOnlyKeys("PATH", "TERM");
  }

  @Test
  void of_long_output_the_beginning_and_the_end_are_kept() throws Exception {
    var result = done("echo begin; yes | head -c 50000000; echo; echo the end");

    var output = result.path("output").asString();
    assertThat(output).startsWith("begin\ny\n").contains("bytes left out").endsWith("the end\n");
    assertThat(output.length()).isLessThan(31_000);
    assertThat(result.path("bytesLeftOut").asLong()).isGreaterThan(49_000_000);
  }

  @Test
  void binary_output_is_summarised_and_codes_for_terminals_are_taken_out() throws Exception {
    assertThat(done("head -c 1000 /dev/zero").path("output").asString())
        .isEqualTo("[binary output, 1000 bytes]");
    assertThat(done("printf '\\033[31mred\\033[0m\\r\\n\\007x\\377y'").path("output").asString())
        .isEqualTo("red\n\uFFFDx\uFFFDy");
  }

  @Test
  void a_command_that_takes_too_long_is_stopped_with_all_it_started() throws Exception {
    var reason = timedOut("echo started; " + WRITE_PID + "sleep 1000 & wait");

    assertThat(reason).contains("stopped after 5000 ms", "started");
    assertGone("pid");
  }

  @Test
  void what_is_left_in_the_background_ends_and_does_not_hold_the_call() throws Exception {
    var result = done("sleep 1000 & echo $! > pid; echo done");

    assertThat(result.path("output").asString()).isEqualTo("done\n");
    assertGone("pid");
  }

  @Test
  void an_interrupt_ends_the_command() throws Exception {
    var thrown = new AtomicReference<Throwable>();
    var caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    call("trap '' TERM; " + WRITE_PID + "while :; do sleep 1; done", null);
                  } catch (InterruptedException stopped) {
                    thrown.set(stopped);
                  }
                });
    awaitPid();
    caller.interrupt();
    caller.join();

    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    assertGone("pid");
  }

  @Test
  void a_flood_hits_the_time_limit_and_no_other() throws Exception {
    assertThat(timedOut("yes | head -c 100000; " + WRITE_PID + "yes"))
        .contains("stopped", "bytes left out");
  }

  @Test
  void what_makes_no_sense_is_refused() throws Exception {
    for (var command : List.of("", "  \n", "echo a\0b")) {
      assertThat(FakeToolContext.failed(call(command, null))).contains("must not be blank");
    }
    assertThat(FakeToolContext.failed(call("x".repeat(100_001), null))).contains("at most");
    assertThat(FakeToolContext.failed(call("true", 0))).contains("timeoutMs");
    assertThat(FakeToolContext.failed(call("true", 600_001))).contains("timeoutMs");
    assertThat(done("no-such-command-here").path("exitCode").asInt()).isEqualTo(127);
    assertThat(done("kill -9 $$").path("exitCode").asInt()).isEqualTo(137);
    assertThatThrownBy(() -> shellTool.call(Json.object(), fakeToolContext))
        .hasMessage("command is missing");
  }

  @Test
  void a_folder_that_is_gone_is_told() throws Exception {
    var gone = new FakeToolContext(folder.resolve("gone"), List.of(), List.of(), Optional.empty());

    assertThat(FakeToolContext.failed(shellTool.call(new ShellTool.Arguments("true", null), gone)))
        .contains("could not be started");
  }

  @Test
  void a_person_is_asked_and_sees_the_command() {
    assertThat(shellTool.permission()).isEqualTo(Tool.Permission.ASK);
    assertThat(shellTool.effect()).isEqualTo(Tool.Effect.AT_MOST_ONCE);
    assertThat(shellTool.preview(new ShellTool.Arguments("rm -rf x", null), fakeToolContext))
        .contains("$ rm -rf x");
  }

  private ToolResult call(String command, @Nullable Integer timeout) throws InterruptedException {
    return shellTool.call(new ShellTool.Arguments(command, timeout), fakeToolContext);
  }

  /// The message of a command whose time of 5 s runs out after it has written its process id.
  private String timedOut(String command) throws Exception {
    var result = ManualTime.start("calling", () -> call(command, 5_000));
    awaitPid();
    time.awaitWait("calling");
    time.advance(Duration.ofMillis(4_999));
    time.advanceToWait("calling", Duration.ofMillis(1));
    return FakeToolContext.failed(result.get());
  }

  private void awaitPid() throws Exception {
    try (var watcher = folder.getFileSystem().newWatchService()) {
      folder.register(watcher, StandardWatchEventKinds.ENTRY_CREATE);
      while (!Files.exists(folder.resolve("pid"))) {
        var key = watcher.take();
        key.pollEvents();
        key.reset();
      }
    }
  }

  private JsonNode done(String command) throws InterruptedException {
    return FakeToolContext.done(call(command, null));
  }

  private void assertGone(String file) throws IOException {
    var pid = Long.parseLong(Files.readString(folder.resolve(file)).strip());
    assertThat(LivingProcesses.has(pid)).isFalse();
  }
}
