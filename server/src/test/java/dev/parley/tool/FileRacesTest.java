package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tests that tools are safe while a folder is repeatedly replaced by a link to another folder.
@Timeout(120)
class FileRacesTest {

  private static final int ROUNDS = 2_000;

  @TempDir Path folder;
  @TempDir Path elsewhere;

  private final AtomicBoolean done = new AtomicBoolean();
  private Thread exchange;
  private FakeToolContext fakeToolContext;

  @BeforeEach
  void files() throws IOException {
    Files.createDirectories(folder.resolve("sub/deep"));
    Files.writeString(folder.resolve("sub/deep/file.csv"), "a\nharmless\n");
    Files.createDirectory(elsewhere.resolve("deep"));
    Files.writeString(elsewhere.resolve("deep/file.csv"), "a\nsecret\n");
    Files.writeString(elsewhere.resolve("deep/secret"), "secret");
    fakeToolContext = FakeToolContext.in(folder);
    exchange = Thread.ofPlatform().daemon().start(this::exchange);
  }

  @AfterEach
  void stop() throws InterruptedException {
    done.set(true);
    exchange.join();
  }

  private void exchange() {
    var random = new Random(1);
    var path = folder.resolve("sub");
    var aside = folder.resolve("aside");
    while (!done.get()) {
      hold(random);
      if (!tried(() -> Files.move(path, aside))) {
        throw new AssertionError("the folder cannot be moved");
      }
      if (tried(() -> Files.createSymbolicLink(path, elsewhere))) {
        hold(random);
        tried(() -> Files.delete(path));
      }
      while (!tried(() -> Files.move(aside, path))) {
        // A writing tool has created the folder meanwhile.
        for (var made : List.of("deep/file.csv", "deep", "new.txt", "")) {
          tried(() -> Files.delete(path.resolve(made)));
        }
      }
    }
  }

  /// Waits a moment, so that a tool meets either state, and the change.
  private static void hold(Random random) {
    var end = System.nanoTime() + random.nextInt(200_000);
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  private interface Step {
    void take() throws IOException;
  }

  private static boolean tried(Step step) {
    try {
      step.take();
      return true;
    } catch (IOException failed) {
      return false;
    }
  }

  @Test
  void no_file_elsewhere_is_read() throws Exception {
    var tool = new ReadFileTool();
    var read = 0;
    for (var i = 0; i < ROUNDS; i++) {
      var result =
          tool.call(new ReadFileTool.Arguments("sub/deep/file.csv", null, null), fakeToolContext);
      assertThat(result.toString()).doesNotContain("secret");
      read += result instanceof ToolResult.Done ? 1 : 0;
    }
    assertThat(read).isPositive();
  }

  @Test
  void no_folder_elsewhere_is_listed_or_searched() throws Exception {
    for (var i = 0; i < ROUNDS / 3; i++) {
      var listed =
          new ListFilesTool().call(new ListFilesTool.Arguments("sub", null, true), fakeToolContext);
      assertThat(listed.toString()).doesNotContain("secret");
      var found =
          new SearchFilesTool()
              .call(new SearchFilesTool.Arguments("secret", null, null), fakeToolContext);
      assertThat(found.toString()).doesNotContain("file.csv");
    }
  }

  @Test
  void no_file_elsewhere_is_written() throws Exception {
    var tool = new WriteFileTool();
    for (var i = 0; i < ROUNDS / 3; i++) {
      tool.call(new WriteFileTool.Arguments("sub/deep/file.csv", "a\nharmless\n"), fakeToolContext);
      tool.call(new WriteFileTool.Arguments("sub/new.txt", "new"), fakeToolContext);
    }
    assertThat(elsewhere.resolve("deep/file.csv")).hasContent("a\nsecret\n");
    assertThat(elsewhere.resolve("new.txt")).doesNotExist();
  }

  /// The working directory is below the replaced folder.
  @Test
  void nothing_elsewhere_is_read_if_the_working_directory_is_exchanged() throws Exception {
    var access = new FileAccess(List.of(folder), null);
    var tool = new ReadFileTool(access);
    var within = fakeToolContext.withFolder(folder.toRealPath().resolve("sub/deep"));
    for (var i = 0; i < ROUNDS; i++) {
      var result = tool.call(new ReadFileTool.Arguments("file.csv", null, null), within);
      assertThat(result.toString()).doesNotContain("secret");
    }
  }
}
