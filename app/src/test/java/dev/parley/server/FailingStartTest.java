package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.ParleyClient;
import dev.parley.embed.CustomAgent;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.TestProgram;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A server that cannot start leaves nothing behind, wherever it failed.
@Timeout(120)
class FailingStartTest {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @TempDir Path data;

  private Set<Thread> before;

  @BeforeEach
  void look() {
    before = threads();
  }

  @Test
  void a_port_that_is_taken_leaves_nothing_behind() throws IOException {
    try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var config = config().listeningOn("127.0.0.1", other.getLocalPort());

      assertThatThrownBy(() -> Server.start(config, TestServer.MODULES))
          .isInstanceOf(Rejection.Unavailable.class)
          .hasMessageContaining("cannot listen");
    }
    nothing_is_left_and_the_folder_can_be_used();
  }

  @Test
  void a_port_that_is_taken_leaves_no_new_folder() throws IOException {
    var folder = data.resolve("new");
    try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var config = config().keepingDataIn(folder).listeningOn("127.0.0.1", other.getLocalPort());

      assertThatThrownBy(() -> Server.start(config, TestServer.MODULES))
          .isInstanceOf(Rejection.Unavailable.class)
          .hasMessageContaining("cannot listen");
    }
    assertThat(folder).doesNotExist();
  }

  /// The parts that open these files are opened one after the other.
  @ParameterizedTest
  @ValueSource(strings = {"log.db", "vault.bin", "push.db"})
  void a_broken_file_leaves_nothing_behind(String name) throws IOException {
    var file = data.resolve(name);
    var kept = data.resolve(name + ".kept");
    Server.start(config(), TestServer.MODULES).close();
    if (Files.exists(file)) {
      Files.move(file, kept);
    }
    Files.writeString(file, "This is not what Parley has written. ".repeat(200));

    assertThatThrownBy(() -> Server.start(config(), TestServer.MODULES))
        .isInstanceOf(Rejection.class);

    Files.delete(file);
    if (Files.exists(kept)) {
      Files.move(kept, file, StandardCopyOption.REPLACE_EXISTING);
    }
    nothing_is_left_and_the_folder_can_be_used();
  }

  @Test
  void an_agent_that_cannot_be_made_leaves_nothing_behind() throws IOException {
    var agent =
        new CustomAgent(
            new AgentTypeId("broken"),
            "broken",
            "Cannot be made",
            List.of(),
            _ -> {
              throw new NoClassDefFoundError("org/example/Missing");
            });

    assertThatThrownBy(() -> Server.start(config(), TestServer.MODULES.with(agent)))
        .isInstanceOf(NoClassDefFoundError.class);

    nothing_is_left_and_the_folder_can_be_used();
  }

  @Test
  void a_folder_that_is_a_file_leaves_nothing_behind() throws IOException {
    var file = Files.writeString(data.resolve("file"), "");

    assertThatThrownBy(() -> Server.start(config().keepingDataIn(file), TestServer.MODULES))
        .isInstanceOf(Rejection.class)
        .hasMessageContaining("it is a file");

    nothing_is_left_and_the_folder_can_be_used();
  }

  @Test
  void the_process_ends_after_a_start_that_failed() throws Exception {
    try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var process =
          TestProgram.command(
                  FailingProgram.class, data.toString(), Integer.toString(other.getLocalPort()))
              .redirectErrorStream(true)
              .start();
      process.getOutputStream().close();
      var printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(process.waitFor()).as(printed).isEqualTo(1);
      assertThat(printed).contains("cannot listen");
    }
  }

  /// Starts a server and, as programs do, lets what it throws end the main thread.
  static final class FailingProgram {

    private FailingProgram() {}

    public static void main(String[] arguments) {
      var _ =
          Server.start(
              Config.standard()
                  .keepingDataIn(Path.of(arguments[0]))
                  .listeningOn("127.0.0.1", Integer.parseInt(arguments[1])),
              TestServer.MODULES);
    }
  }

  private Config config() {
    return Config.standard().keepingDataIn(data).listeningOn("127.0.0.1", 0);
  }

  private void nothing_is_left_and_the_folder_can_be_used() throws IOException {
    // Some threads are only told to end.
    var end = System.nanoTime() + PATIENCE.toNanos();
    while (!left().isEmpty() && System.nanoTime() < end) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    assertThat(left()).isEmpty();
    assertThat(openFiles()).isEmpty();
    try (var server = Server.start(config(), TestServer.MODULES);
        var client = new ParleyClient(URI.create(server.url()))) {
      assertThat(client.contexts(null, 1).items()).isEmpty();
    }
  }

  private Set<String> left() {
    var now = new HashSet<>(threads());
    now.removeAll(before);
    return now.stream()
        .map(Thread::getName)
        .filter(name -> name.matches("(?:parley-|views|timers|mcp-|cli-|HttpClient-).*"))
        .collect(Collectors.toSet());
  }

  private static Set<Thread> threads() {
    return Map.copyOf(Thread.getAllStackTraces()).keySet();
  }

  /// The files in the data folder that this process has open, where that can be told.
  private List<Path> openFiles() throws IOException {
    var descriptors = Path.of("/proc/self/fd");
    if (!Files.isDirectory(descriptors)) {
      return List.of();
    }
    var real = data.toRealPath();
    try (var files = Files.list(descriptors)) {
      return files
          .flatMap(
              file -> {
                try {
                  return Stream.of(Files.readSymbolicLink(file));
                } catch (IOException closedMeanwhile) {
                  return Stream.of();
                }
              })
          .filter(target -> target.startsWith(real))
          .toList();
    }
  }
}
