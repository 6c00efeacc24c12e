package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the guide shows of the WebSocket, done with Node.
class WebSocketGuideTest {

  private static final Pattern EXAMPLE =
      Pattern.compile("(?s)## The WebSocket\n.*?```js\n(.*?)```\n```json\n(.*?)```");

  @TempDir Path folder;

  @Test
  void the_example_prints_what_the_guide_says() throws Exception {
    var root = root(Path.of("").toAbsolutePath());
    var example = EXAMPLE.matcher(Files.readString(root.resolve("docs/native-api.md")));
    assertThat(example.find()).isTrue();
    try (var testServer = TestServer.open(folder)) {
      assertThat(testServer.post("/api/contexts", "{\"contextId\":\"demo\"}").statusCode())
          .isEqualTo(201);
      testServer.post("/api/contexts/demo/messages", "{\"content\":\"count slowly to 20\"}");
      var program =
          example.group(1).replace("localhost:7070", "127.0.0.1:" + testServer.url.getPort());

      assertThat(output(root.resolve("peers/clients"), program))
          .matches("(?s)" + Pattern.quote(example.group(2)).replace("…", "\\E[^\n]*\\Q"));
    }
  }

  private static String output(Path peers, String program)
      throws IOException, InterruptedException {
    var process =
        new ProcessBuilder("node", "--input-type=module", "-e", program)
            .directory(peers.toFile())
            .redirectErrorStream(true)
            .start();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      return new String(
          process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    } finally {
      process.destroyForcibly();
    }
  }

  private static Path root(Path from) {
    return Files.isDirectory(from.resolve("peers")) ? from : root(from.getParent());
  }
}
