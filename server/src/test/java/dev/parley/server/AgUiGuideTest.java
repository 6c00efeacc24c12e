package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What the guide shows of AG-UI, done with a client from npm.
@Timeout(60)
class AgUiGuideTest {

  private static final Pattern EXAMPLE = Pattern.compile("(?s)```js\n(.*?)```\n```\n(.*?)```");

  @TempDir Path folder;

  @Test
  void the_example_prints_what_the_guide_says() throws Exception {
    var root = root(Path.of("").toAbsolutePath());
    var example = EXAMPLE.matcher(Files.readString(root.resolve("docs/ag-ui.md")));
    assertThat(example.find()).isTrue();
    try (var site = Site.open(folder)) {
      var program = example.group(1).replace("localhost:7070", "127.0.0.1:" + site.url.getPort());

      assertThat(output(root.resolve("peers/agui"), program)).isEqualTo(example.group(2));
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
