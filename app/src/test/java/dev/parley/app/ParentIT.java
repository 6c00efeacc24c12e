package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.runtime.TestProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Servers that tests start end with the tests, even if the tests are killed.
@Timeout(180)
class ParentIT {

  @TempDir Path data;

  @Test
  void a_server_stops_in_order_when_the_process_that_started_it_is_killed() throws Exception {
    var parent = start(data);
    try (var lines = parent.inputReader()) {
      var pid = Long.parseLong(lines.readLine());
      var server = ProcessHandle.of(pid).orElseThrow();
      assertThat(data.resolve("server.json")).exists();

      parent.destroyForcibly().waitFor();

      server.onExit().get(60, TimeUnit.SECONDS);
      assertThat(data.resolve("server.json")).doesNotExist();
    } finally {
      parent.destroyForcibly().waitFor();
    }
  }

  @Test
  void a_parent_that_is_no_process_is_wrong_usage() throws Exception {
    try (var program =
        RealProcess.run(Map.of(ParentProcessMonitor.VARIABLE, "mother"), "contexts")) {
      assertThat(program.await()).isEqualTo(2);
      assertThat(program.err()).first().asString().contains(ParentProcessMonitor.VARIABLE);
    }
  }

  private static Process start(Path data) throws IOException {
    return TestProgram.command(Starter.class, data.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /// Starts a server as the tests do, prints its process id, and is killed.
  static final class Starter {

    private Starter() {}

    public static void main(String[] arguments) throws InterruptedException {
      var server = RealProcess.serve(Path.of(arguments[0]));
      System.out.println(server.pid());
      new CountDownLatch(1).await();
    }
  }
}
