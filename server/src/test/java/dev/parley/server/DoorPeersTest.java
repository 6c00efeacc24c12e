package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Clients from npm, which `./check` installs, go through the doors: X.24.
@Timeout(120)
class DoorPeersTest {

  @TempDir Path folder;

  @Test
  void the_samples_of_the_chat_document_run_with_a_real_event_source_s1_41_s1_42_s1_45()
      throws Exception {
    run("doors", "chat.mjs");
  }

  @Test
  void a_real_client_of_ag_ui_finds_no_fault_with_runs_of_every_shape() throws Exception {
    run("agui", "runs.mjs");
  }

  private void run(String group, String name) throws IOException, InterruptedException {
    try (var site = Site.durable(folder.resolve("data"), Site.Wish.USUAL)) {
      var printed = folder.resolve("printed.txt");
      var process =
          new ProcessBuilder("node", script(group, name).toString(), site.url.toString())
              .redirectErrorStream(true)
              .redirectOutput(printed.toFile())
              .start();
      var ended = process.waitFor(90, TimeUnit.SECONDS);
      process.destroyForcibly();
      assertThat(ended).as(Files.readString(printed)).isTrue();
      assertThat(process.exitValue()).as(Files.readString(printed)).isZero();
    }
  }

  /// Tests fail without the peers: there is no point in passing unseen.
  private static Path script(String group, String name) {
    var given = System.getProperty("parley.peers");
    var peers = given == null ? above(Path.of("").toAbsolutePath()) : Path.of(given);
    var folder = peers.resolve(group);
    if (!Files.isDirectory(folder.resolve("node_modules"))) {
      fail("%s has no node_modules: ./check installs them, or npm ci there", folder);
    }
    return folder.resolve(name);
  }

  private static Path above(Path folder) {
    return folder.getParent() == null || Files.isDirectory(folder.resolve("peers"))
        ? folder.resolve("peers")
        : above(folder.getParent());
  }
}
