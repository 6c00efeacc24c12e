package dev.parley.tool.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.parley.tool.process.ManagedProcesses.ProcessCommand;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand.ProcessStreams;
import dev.parley.tool.process.ProcessIsolation.ProcessLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Programs attack the server and others from each kind of sandbox. A level that this machine does
/// not support is skipped, with the reason.
@Timeout(120)
@ParameterizedClass
@EnumSource(
    value = IsolationLevel.class,
    names = {"NONE"},
    mode = EnumSource.Mode.EXCLUDE)
class SandboxTest {

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final String SECRET = "very-secret";

  @Parameter IsolationLevel level;

  @TempDir Path machine;

  private final AtomicInteger ids = new AtomicInteger();
  private Path workspace;
  private Path other;
  private Path data;
  private Path home;
  private Sandbox sandbox;
  private ManagedProcesses managedProcesses;

  @BeforeEach
  void open() throws IOException {
    machine = machine.toRealPath();
    workspace = Files.createDirectories(machine.resolve("work space"));
    other = Files.createDirectories(machine.resolve("other"));
    data = Files.createDirectories(machine.resolve("data"));
    home = Files.createDirectories(machine.resolve("home"));
    Files.writeString(other.resolve("secret"), SECRET);
    Files.writeString(data.resolve("secret"), SECRET);
    Files.writeString(home.resolve("secret"), SECRET);
    var trial =
        Sandbox.open(level, data.resolve("isolation"), List.of(data), List.of(workspace, other));
    assumeThat(trial.problem()).as("this machine supports " + level.wire()).isEmpty();
    sandbox = trial.sandbox();
    managedProcesses =
        new ManagedProcesses(
            data.resolve("children"),
            () -> machine.getFileName() + "-" + ids.incrementAndGet(),
            sandbox);
  }

  @AfterEach
  void close() {
    if (managedProcesses != null) {
      managedProcesses.close();
    }
  }

  private record Ended(int exitCode, String output) {}

  private Map<String, String> environment() {
    var environment = new HashMap<String, String>();
    environment.put("PATH", "/usr/local/bin:/usr/bin:/bin");
    environment.put("HOME", home.toString());
    return environment;
  }

  private ProcessCommand command(Path folder, ProcessIsolation isolation, String script) {
    return new ProcessCommand(
        List.of("/bin/bash", "-c", script),
        folder,
        environment(),
        ProcessStreams.OUTPUT_ONLY,
        isolation);
  }

  private Ended run(Path folder, ProcessIsolation isolation, String script)
      throws IOException, InterruptedException {
    var child = managedProcesses.start(command(folder, isolation, script));
    try {
      assertThat(child.await(LONG)).as("ends").isTrue();
    } finally {
      // Processes that it left in the background keep the pipe open.
      child.close();
    }
    var output = new String(child.output().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(child.exitCode(), output);
  }

  private Ended run(String script) throws IOException, InterruptedException {
    return run(workspace, ProcessIsolation.COMMANDS, script);
  }

  private static ProcessIsolation limited(ProcessLimits limits) {
    return new ProcessIsolation(true, false, false, true, limits, List.of(), List.of());
  }

  @Test
  void a_program_works_in_its_folder_and_its_exit_code_is_kept() throws Exception {
    var ended =
        run(
            "pwd; echo hi > made; cat made; mktemp > /dev/null && echo temporary;"
                + " touch ~/x && echo home; [ -c /dev/null ] && echo > /dev/null; exit 3");

    assertThat(ended.output()).isEqualTo(workspace + "\nhi\ntemporary\nhome\n");
    assertThat(ended.exitCode()).isEqualTo(3);
    assertThat(workspace.resolve("made")).hasContent("hi");
    assertThat(home.resolve("x")).doesNotExist();
    assertThat(data.resolve("children")).isEmptyDirectory();
  }

  @Test
  void input_output_and_errors_are_connected() throws Exception {
    var words = List.of("sh", "-c", "read -r line; echo \"got $line\"; echo bad >&2; exit 4");
    var command = new ProcessCommand(words, workspace, environment(), ProcessStreams.ALL);
    try (var child = managedProcesses.start(command)) {
      child.input().write("hello\n".getBytes(StandardCharsets.UTF_8));
      child.input().close();
      assertThat(new String(child.output().readAllBytes(), StandardCharsets.UTF_8))
          .isEqualTo("got hello\n");
      assertThat(new String(child.errors().readAllBytes(), StandardCharsets.UTF_8))
          .isEqualTo("bad\n");
      assertThat(child.await(LONG)).isTrue();
      assertThat(child.exitCode()).isEqualTo(4);
    }
  }

  @Test
  void a_missing_program_ends_with_127() throws Exception {
    var command =
        new ProcessCommand(
            List.of("no-such-program"), workspace, environment(), ProcessStreams.OUTPUT_ONLY);
    try (var child = managedProcesses.start(command)) {
      child.output().readAllBytes();
      assertThat(child.await(LONG)).isTrue();
      assertThat(child.exitCode()).isEqualTo(127);
    }
  }

  /// Attacks that print a secret if they reach it, in one program.
  @Test
  void a_program_cannot_read_what_is_not_its_own() throws Exception {
    var attacks =
        List.of(
            "cat %1$s/data/secret %1$s/other/secret %1$s/home/secret",
            "ln -s %1$s/data/secret link; ln -s %1$s/other others; cat link others/secret",
            "cat ../data/secret ../other/secret",
            "find %1$s /home /root /var /run /srv -name secret -exec cat {} +",
            "cat /proc/*/root%1$s/data/secret /proc/*/cwd/../data/secret",
            "mkdir m; mount --bind / m; cat m%1$s/data/secret",
            "umount -l %1$s/data; umount -l %1$s; cat %1$s/data/secret",
            "unshare --user --map-root-user --mount sh -c 'umount -l %1$s; cat %1$s/data/secret'",
            "cat /etc/shadow /root/.bashrc 2> /dev/null",
            "for each in /dev/vda /dev/sda /dev/nvme0n1; do head -c 9 $each && echo very-secret; done",
            "echo end");
    var ended = run(String.join("\n", attacks).formatted(machine));

    assertThat(ended.output())
        .endsWith("end\n")
        .doesNotContain(SECRET, "root:x", "root:*", "alias");
  }

  @Test
  void the_data_folder_is_hidden_also_inside_the_workspace() throws Exception {
    var trial = Sandbox.open(level, data.resolve("isolation"), List.of(data), List.of(machine));
    try (var inner =
        new ManagedProcesses(
            data.resolve("children"), () -> "inner-" + ids.incrementAndGet(), trial.sandbox())) {
      var command =
          command(
              machine,
              ProcessIsolation.COMMANDS,
              "cat data/secret other/secret; touch data/x; mv data away; rm -rf data; ls data");
      try (var child = inner.start(command)) {
        var output = new String(child.output().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(output).containsOnlyOnce(SECRET);
      }
    }
    assertThat(data.resolve("secret")).hasContent(SECRET);
    assertThat(data.resolve("x")).doesNotExist();
  }

  @Test
  void only_the_environment_of_the_command_exists() throws Exception {
    var ended =
        run("cat /proc/1/environ /proc/self/environ | tr '\\0' '\\n' | cut -d= -f1 | sort -u");

    assertThat(ended.output().lines())
        .contains("PATH", "HOME")
        .isSubsetOf("PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_", "PARLEY_CHILD");
  }

  /// Attacks that print their number if the system lets them write.
  @Test
  void a_program_cannot_change_the_system() throws Exception {
    var attacks =
        List.of(
            "cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness",
            "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern",
            "echo h > /proc/sysrq-trigger",
            "touch /usr/parley-test",
            "touch /etc/parley-test",
            "touch /parley-test",
            "[ -e /sys/kernel ]",
            "mount -t tmpfs tmpfs .",
            "mount -o remount,rw /usr",
            "mknod disk b 8 0",
            "chroot . true",
            "hostname \"$(hostname)\"");
    var script = new StringBuilder();
    for (var i = 0; i < attacks.size(); i++) {
      script.append("(%s) 2> /dev/null && echo changed %d\n".formatted(attacks.get(i), i));
    }

    assertThat(run(script + "echo end").output()).isEqualTo("end\n");
  }

  @Test
  void other_processes_cannot_be_seen_signalled_or_traced() throws Exception {
    var self = ProcessHandle.current().pid();
    var ended =
        run(
            "ls /proc | grep -cx %1$d; kill -9 %1$d; ls /proc | grep -c '^[0-9]'".formatted(self)
                + "; head -c 1 /proc/%d/mem && echo traced".formatted(self));

    assertThat(ProcessHandle.current().isAlive()).isTrue();
    assertThat(ended.output()).startsWith("0\n").doesNotContain("traced");
  }

  @Test
  void without_network_no_port_of_the_machine_answers() throws Exception {
    try (var server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      var attack =
          "(exec 3<> /dev/tcp/127.0.0.1/%d) 2> /dev/null && echo connected; echo end"
              .formatted(server.getLocalPort());

      assertThat(run(attack).output()).isEqualTo("end\n");
      assertThat(run(workspace, ProcessIsolation.AGENTS, attack).output())
          .isEqualTo("connected\nend\n");
    }
  }

  @Test
  void a_program_can_use_its_own_loopback() throws Exception {
    assumeThat(Path.of("/usr/bin/python3")).exists();
    var ended =
        run(
            """
            python3 - <<'END'
            import socket
            server = socket.create_server(("127.0.0.1", 0))
            socket.create_connection(server.getsockname())
            print("connected")
            END
            """);

    assertThat(ended.output()).isEqualTo("connected\n");
  }

  @Test
  void paths_are_visible_if_the_configuration_lists_them() throws Exception {
    var isolation =
        new ProcessIsolation(
            true, false, false, true, ProcessLimits.DEFAULT, List.of(other), List.of(home));
    var ended =
        run(
            workspace,
            isolation,
            "cat %1$s/secret; touch %1$s/x; cat %2$s/secret; touch %2$s/y; cat %3$s/secret"
                .formatted(other, home, data));

    assertThat(ended.output()).contains(SECRET, "Read-only").contains("data/secret: No such");
    assertThat(other.resolve("x")).doesNotExist();
    assertThat(home.resolve("y")).exists();
  }

  @Test
  void an_mcp_server_reads_its_folder_but_no_workspace() throws Exception {
    var servers = Files.createDirectories(machine.resolve("servers"));
    Files.writeString(servers.resolve("script"), "mine");

    assertThat(run(servers, ProcessIsolation.MCP_SERVERS, "cat script; touch x").output())
        .startsWith("mine")
        .contains("Read-only");
    assertThat(
            run(
                    machine,
                    ProcessIsolation.MCP_SERVERS,
                    "cat other/secret data/secret; cat servers/script")
                .output())
        .contains("mine")
        .contains("other/secret: No such", "data/secret: No such");
  }

  @Test
  void a_fork_bomb_is_limited() throws Exception {
    assumeThat(sandbox.limitsProcesses()).as("processes can be limited").isTrue();
    var limits = new ProcessLimits(0, 40, Duration.ZERO, 0, 1 << 20);
    var ended =
        run(
            workspace,
            limited(limits),
            // This shell does not try again when a fork fails.
            "exec /bin/sh -c 'i=0; while [ $i -lt 100 ]; do sleep 100 > /dev/null 2>&1 & i=$((i + 1)); echo $i; done'");

    assertThat(ended.output())
        .contains("\n20\n")
        .doesNotContain("\n60\n")
        .containsIgnoringCase("fork");
    assertThat(ended.exitCode()).isNotZero();
  }

  @Test
  void memory_is_limited() throws Exception {
    assumeThat(Path.of("/usr/bin/python3")).exists();
    var limits = new ProcessLimits(200L << 20, 0, Duration.ZERO, 0, 1 << 20);
    var script = "python3 -c 'x = bytearray(%d << 20); print(\"allocated\")'";

    assertThat(run(workspace, limited(limits), script.formatted(20)).output())
        .isEqualTo("allocated\n");
    assertThat(run(workspace, limited(limits), script.formatted(400)).output())
        .doesNotContain("allocated");
  }

  @Test
  void files_and_temporary_folders_are_limited() throws Exception {
    var limits = new ProcessLimits(0, 0, Duration.ZERO, 2 << 20, 1 << 20);
    var ended =
        run(
            workspace,
            limited(limits),
            "head -c 4M /dev/zero > big; stat -c %s big; for i in 1 2 3; do head -c 1M /dev/zero >"
                + " /tmp/$i || echo full; done; head -c 2M /dev/zero > ~/x || echo full");

    assertThat(ended.output()).contains("2097152\n").contains("full");
    assertThat(Files.size(workspace.resolve("big"))).isEqualTo(2 << 20);
  }

  @Test
  void cpu_time_is_limited() throws Exception {
    var limits = new ProcessLimits(0, 0, Duration.ofSeconds(1), 0, 1 << 20);

    assertThat(run(workspace, limited(limits), "while :; do :; done").exitCode()).isNotZero();
  }

  @Test
  void the_root_folder_cannot_be_a_workspace() {
    assertThatThrownBy(() -> run(Path.of("/"), ProcessIsolation.COMMANDS, "true"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("use another folder");
  }

  /// The script prints a line when it runs.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "sleep 1000 & echo; wait",
        "(setsid sleep 1000 & echo); exec sleep 1000",
        "(env -i setsid sleep 1000 &); echo",
        "trap '' TERM HUP; echo; while :; do sleep 1; done",
      })
  void all_that_a_program_started_ends_with_it(String script) throws Exception {
    var child = managedProcesses.start(command(workspace, ProcessIsolation.COMMANDS, script));
    assertThat(child.output().read()).isEqualTo('\n');
    var tree = child.tree();
    child.close();

    assertThat(tree.members(ProcessSnapshots.ProcessSnapshot.of(ProcessTable.snapshot())))
        .isEmpty();
    assertThat(child.await(LONG)).isTrue();
    assertThat(data.resolve("children")).isEmptyDirectory();
  }

  @Test
  void a_program_that_is_asked_to_end_can_clean_up() throws Exception {
    var child =
        managedProcesses.start(
            command(
                workspace,
                ProcessIsolation.COMMANDS,
                "trap 'touch cleaned; exit 0' TERM; echo; while :; do sleep 0.01; done"));
    assertThat(child.output().read()).isEqualTo('\n');
    child.close();

    assertThat(workspace.resolve("cleaned")).exists();
  }

  @Test
  void what_an_earlier_server_left_behind_is_ended() throws Exception {
    var child =
        managedProcesses.start(
            command(workspace, ProcessIsolation.COMMANDS, "echo; sleep 1000 & sleep 1000"));
    assertThat(child.output().read()).isEqualTo('\n');
    var next = new ManagedProcesses(data.resolve("children"), () -> "next", sandbox);

    assertThat(next.endLeftovers()).isEqualTo(1);
    assertThat(child.await(LONG)).isTrue();
    assertThat(child.tree().members(ProcessSnapshots.ProcessSnapshot.of(ProcessTable.snapshot())))
        .isEmpty();
  }
}
