package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.tool.FakeToolContext;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Effect;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Tests the real file server with access to one folder.
class FilesystemServerTest {

  @TempDir Path folder;

  private Path allowed;
  private McpServers servers;

  @BeforeEach
  void start() throws Exception {
    allowed = Files.createDirectory(folder.toRealPath().resolve("allowed"));
    servers =
        McpTestServers.start(
            McpTestServers.stdio(
                "files",
                folder,
                McpTestServers.script("filesystem").toString(),
                allowed.toString()));
  }

  @AfterEach
  void close() {
    servers.close();
  }

  private Tool tool(String name) throws Exception {
    return McpTestServers.tool(servers, "files", name);
  }

  private static String arguments(Path path) {
    return Json.object().put("path", path.toString()).toString();
  }

  @Test
  void it_writes_lists_and_reads() throws Exception {
    var file = allowed.resolve("note.txt");
    var note = Json.object().put("path", file.toString()).put("content", "Grüße\n").toString();

    FakeToolContext.done(new McpTestContext().call(tool("write_file"), note));

    assertThat(file).hasContent("Grüße\n");
    assertThat(
            FakeToolContext.done(
                    new McpTestContext().call(tool("list_directory"), arguments(allowed)))
                .toString())
        .contains("note.txt");
    assertThat(
            FakeToolContext.done(new McpTestContext().call(tool("read_text_file"), arguments(file)))
                .toString())
        .contains("Grüße");
  }

  @Test
  void what_lies_outside_is_refused_by_the_server() throws Exception {
    var secret = Files.writeString(folder.toRealPath().resolve("secret.txt"), "secret");

    assertThat(
            FakeToolContext.failed(
                new McpTestContext().call(tool("read_text_file"), arguments(secret))))
        .contains("Access denied");
  }

  @Test
  void its_claims_about_effects_are_taken() throws Exception {
    assertThat(tool("read_text_file").effect()).isEqualTo(Effect.PURE);
    assertThat(tool("write_file").effect()).isEqualTo(Effect.IDEMPOTENT);
    assertThat(tool("move_file").effect()).isEqualTo(Effect.AT_MOST_ONCE);
  }
}
