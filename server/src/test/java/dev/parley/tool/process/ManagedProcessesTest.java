package dev.parley.tool.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.runtime.TestProgram;
import dev.parley.tool.process.ManagedProcesses.FolderKey;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand.ProcessStreams;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ManagedProcessesTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path folder;

  private final AtomicInteger ids = new AtomicInteger();
  private ManagedProcesses managedProcesses;

  @BeforeEach
  void open() {
    managedProcesses = children();
  }

  @AfterEach
  void close() {
    managedProcesses.close();
  }

  /// The script prints the id of a process that must end with the child.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "sleep 1000 & echo $!; wait",
        "(sleep 1000 & echo $!); exec sleep 1000",
        "(setsid sleep 1000 & echo $!); exec sleep 1000",
        "(env -i sleep 1000 & echo $!); exec sleep 1000",
        "(sleep 1000 & echo $!)",
        "(setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 1; done' &); exec sleep"
            + " 1000",
        "trap '' TERM; echo $$; while :; do sleep 1; done",
        "trap 'echo' TERM; sh -c 'echo $$; exec sleep 1000'",
        "echo $$; exec 1>&- 2>&-; exec sleep 1000",
      })
  void all_that_a_child_started_ends_with_it(String script) throws Exception {
    var managedProcess = start(script);
    var pid = Long.parseLong(new String(line(managedProcess.output()), StandardCharsets.US_ASCII));
    assertThat(ProcessTable.find(pid)).isPresent();

    managedProcess.close();

    assertThat(ProcessTable.find(pid)).isEmpty();
    assertThat(managedProcess.await(LONG)).isTrue();
    assertThat(files()).isEmptyDirectory();
  }

  @Test
  void twenty_at_once_end() throws Exception {
    var all = new ArrayList<ManagedProcess>();
    var pids = new ArrayList<Long>();
    for (var i = 0; i < 20; i++) {
      var managedProcess =
          start("trap '' TERM; (setsid sleep 1000 & echo $!); while :; do sleep 1; done");
      all.add(managedProcess);
      pids.add(managedProcess.pid());
      pids.add(
          Long.parseLong(new String(line(managedProcess.output()), StandardCharsets.US_ASCII)));
    }
    var closers =
        all.stream()
            .map(managedProcess -> Thread.ofVirtual().start(managedProcess::close))
            .toList();
    for (var closer : closers) {
      closer.join();
    }

    assertThat(pids).allMatch(pid -> ProcessTable.find(pid).isEmpty());
  }

  @Test
  void one_that_closes_its_pipes_and_lives_on_is_still_alive() throws Exception {
    try (var managedProcess = start("exec 1>&- 2>&-; exec sleep 1000")) {
      assertThat(managedProcess.output().read()).isEqualTo(-1);
      assertThat(managedProcess.alive()).isTrue();
      assertThat(managedProcess.await(Duration.ofMillis(1))).isFalse();
    }
  }

  @Test
  void closing_all_ends_all_and_an_interrupt_does_not_stop_it() throws Exception {
    var managedProcess = start("trap '' TERM; echo; while :; do sleep 1; done");
    line(managedProcess.output());
    Thread.currentThread().interrupt();
    managedProcesses.close();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(ProcessTable.find(managedProcess.pid())).isEmpty();
  }

  @Test
  void a_child_ends_well_and_its_file_is_gone() throws Exception {
    try (var managedProcess = start("echo out; echo err >&2; exit 3")) {
      assertThat(new String(managedProcess.output().readAllBytes(), StandardCharsets.US_ASCII))
          .isEqualTo("out\nerr\n");
      assertThat(managedProcess.await(LONG)).isTrue();
      assertThat(managedProcess.exitCode()).isEqualTo(3);
    }
    assertThat(files()).isEmptyDirectory();
  }

  @Test
  void one_can_talk_to_a_child_and_its_environment_is_what_was_given() throws Exception {
    var environment = Map.of("PATH", System.getenv("PATH"), "GIVEN", "yes");
    var words = List.of("sh", "-c", "read -r line; echo \"$line\"; echo error >&2; env | sort");
    try (var managedProcess =
        managedProcesses.start(
            new ProcessCommand(words, folder, environment, ProcessStreams.ALL))) {
      managedProcess.input().write("hello\n".getBytes(StandardCharsets.US_ASCII));
      managedProcess.input().close();
      var output = new String(managedProcess.output().readAllBytes(), StandardCharsets.US_ASCII);

      assertThat(output).startsWith("hello\n").contains("GIVEN=yes", "PARLEY_CHILD=child-1");
      assertThat(
              output
                  .lines()
                  .filter(line -> line.contains("="))
                  .map(line -> line.substring(0, line.indexOf('='))))
          .isSubsetOf("GIVEN", "PARLEY_CHILD", "PATH", "PWD", "OLDPWD", "SHLVL", "_");
      assertThat(new String(managedProcess.errors().readAllBytes(), StandardCharsets.US_ASCII))
          .isEqualTo("error\n");
    }
  }

  @Test
  void a_program_that_is_not_there_ends_with_127() throws Exception {
    var words = List.of("/no/such/program");
    try (var managedProcess =
        managedProcesses.start(
            new ProcessCommand(words, folder, Map.of(), ProcessStreams.OUTPUT_ONLY))) {
      assertThat(managedProcess.await(LONG)).isTrue();
      assertThat(managedProcess.exitCode()).isEqualTo(127);
    }
  }

  @Test
  void a_child_whose_server_died_before_it_began_does_nothing() throws Exception {
    Files.createDirectory(files());
    var file = files().resolve("x");
    var process =
        new ProcessBuilder(
                "sh",
                "-c",
                ManagedProcesses.PRELUDE,
                "parley",
                file.toString(),
                "1",
                "-",
                "-",
                "echo",
                "x")
            .start();

    assertThat(process.getInputStream().readAllBytes()).isEmpty();
    assertThat(process.waitFor()).isEqualTo(125);
  }

  @Test
  void what_a_killed_server_left_behind_is_ended_at_the_next_start() throws Exception {
    var server =
        TestProgram.command(KilledServer.class, files().toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    long grandchild;
    long child;
    try (var lines = reader(server)) {
      grandchild = Long.parseLong(lines.readLine());
      child = Long.parseLong(lines.readLine());
      server.destroyForcibly().waitFor();
    }
    assertThat(ProcessTable.find(child)).isPresent();
    assertThat(ProcessTable.find(grandchild)).isPresent();

    assertThat(children().endLeftovers()).isEqualTo(1);

    assertThat(ProcessTable.find(child)).isEmpty();
    assertThat(ProcessTable.find(grandchild)).isEmpty();
    assertThat(files()).isEmptyDirectory();
    assertThat(children().endLeftovers()).isZero();
  }

  @Test
  void a_copy_of_the_folder_ends_no_child_of_the_original() throws Exception {
    try (var managedProcess = start("echo; exec sleep 1000")) {
      line(managedProcess.output());
      var copy = Files.createDirectories(folder.resolve("copy").resolve("children"));
      try (var records = Files.list(files())) {
        for (var record : records.toList()) {
          Files.copy(record, copy.resolve(record.getFileName()));
        }
      }
      assertThat(copy).isNotEmptyDirectory();

      try (var other = new ManagedProcesses(copy, () -> "other")) {
        assertThat(other.endLeftovers()).isZero();
      }
      assertThat(managedProcess.alive()).isTrue();
      assertThat(copy).isEmptyDirectory();
    }
  }

  @Test
  void leftovers_are_found_though_the_folder_was_moved() throws Exception {
    var managedProcess = start("echo; exec sleep 1000");
    line(managedProcess.output());
    var moved = folder.resolve("moved");
    Files.move(files(), moved);

    try (var next = new ManagedProcesses(moved, () -> "next")) {
      assertThat(next.endLeftovers()).isEqualTo(1);
    }
    assertThat(managedProcess.await(LONG)).isTrue();
  }

  @Test
  void a_grandchild_is_found_though_the_child_has_ended() throws Exception {
    var managedProcess = start("(setsid sleep 1000 & echo $!)");
    var pid = Long.parseLong(new String(line(managedProcess.output()), StandardCharsets.US_ASCII));
    assertThat(managedProcess.await(LONG)).isTrue();

    assertThat(children().endLeftovers()).isEqualTo(1);
    assertThat(ProcessTable.find(pid)).isEmpty();
  }

  @Test
  void children_of_this_server_are_no_leftovers() throws Exception {
    try (var managedProcess = start("echo; exec sleep 1000")) {
      line(managedProcess.output());

      assertThat(managedProcesses.endLeftovers()).isZero();
      assertThat(managedProcess.alive()).isTrue();
    }
  }

  @Test
  void somebody_elses_process_with_the_same_number_is_left_alone() throws Exception {
    var other = new ProcessBuilder("sleep", "1000").start();
    try {
      var processInfo = ProcessTable.find(other.pid()).orElseThrow();
      Files.createDirectory(files());
      var boot = ProcessTable.bootId();
      var key = FolderKey.of(files());
      var ours = " " + key.file() + "\n" + key.path();
      var elsewhere = " dev=0,ino=1\n" + key.path();
      write("other-start", processInfo.pid() + " " + (processInfo.start() - 1) + " " + boot + ours);
      write("other-boot", processInfo.pid() + " " + processInfo.start() + " 00000000" + ours);
      write("other-folder", processInfo.pid() + " " + processInfo.start() + " " + boot + elsewhere);
      write("no-folder", processInfo.pid() + " " + processInfo.start() + " " + boot);
      write("garbage", "\0\1 rm -rf /");
      write("empty", "");
      write("no-number", "x y z");
      Files.write(files().resolve("binary"), new byte[] {(byte) 0xFF, 0});

      assertThat(managedProcesses.endLeftovers()).isZero();
      assertThat(other.isAlive()).isTrue();
      assertThat(files()).isEmptyDirectory();
    } finally {
      other.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
    }
  }

  private Path files() {
    return folder.resolve("children");
  }

  private ManagedProcesses children() {
    return new ManagedProcesses(files(), () -> "child-" + ids.incrementAndGet());
  }

  private ManagedProcess start(String script) throws IOException {
    var environment = Map.of("PATH", System.getenv("PATH"));
    return managedProcesses.start(
        new ProcessCommand(
            List.of("/bin/sh", "-c", script), folder, environment, ProcessStreams.OUTPUT_ONLY));
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(files().resolve(name), text + "\n");
  }

  private static BufferedReader reader(Process process) {
    return process.inputReader(StandardCharsets.US_ASCII);
  }

  /// Reads one line, and nothing after it.
  private static byte[] line(java.io.InputStream input) throws IOException {
    var line = new java.io.ByteArrayOutputStream();
    for (var b = input.read(); b != '\n' && b >= 0; b = input.read()) {
      line.write(b);
    }
    return line.toByteArray();
  }
}
