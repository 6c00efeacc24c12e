package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What guides show of clients from npm, done with them.
@Timeout(60)
class ClientGuidesTest {

  private static final Pattern EXAMPLE = Pattern.compile("(?s)```js\n(.*?)```\n```\n(.*?)```");

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"ag-ui.md, agui", "a2a.md, a2a", "sessions.md, a2a", "openai.md, openai"})
  void the_example_prints_what_the_guide_says(String guide, String peers) throws Exception {
    var root = root(Path.of("").toAbsolutePath());
    var example = EXAMPLE.matcher(Files.readString(root.resolve("docs").resolve(guide)));
    assertThat(example.find()).isTrue();
    try (var testServer = TestServer.open(folder)) {
      var program =
          example.group(1).replace("localhost:7070", "127.0.0.1:" + testServer.url.getPort());

      assertThat(output(root.resolve("peers").resolve(peers), program)).isEqualTo(example.group(2));
    }
  }

  private String output(Path peers, String program) throws IOException, InterruptedException {
    var printed = folder.resolve("printed.txt");
    var notes = folder.resolve("notes.txt");
    var process =
        new ProcessBuilder("node", "--input-type=module", "-e", program)
            .directory(peers.toFile())
            .redirectOutput(printed.toFile())
            .redirectError(notes.toFile())
            .start();
    var ended = process.waitFor(40, TimeUnit.SECONDS);
    process.destroyForcibly();
    assertThat(ended).as(Files.readString(notes)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(notes)).isZero();
    return Files.readString(printed, StandardCharsets.UTF_8);
  }

  private static Path root(Path from) {
    return Files.isDirectory(from.resolve("peers")) ? from : root(from.getParent());
  }
}
