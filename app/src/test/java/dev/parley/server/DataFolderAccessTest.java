package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.agent.ToolPolicy;
import dev.parley.client.NewMessage;
import dev.parley.protocol.Json;
import dev.parley.tool.Tool.Permission;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/// A workspace that the server's own folder is in: no file tool reaches what is in there.
@Timeout(60)
class DataFolderAccessTest {

  private static final String REFUSED = "files of the server itself";

  @TempDir Path folder;

  private Path data;
  private EmbeddedTestServer talk;

  @BeforeEach
  void start() throws IOException {
    var kept = Files.createDirectories(folder.resolve("deep/kept"));
    data = Files.createSymbolicLink(folder.resolve("data"), kept);
    var agent =
        AgentConfig.of("clerk", "Helps", "files", "dataset")
            .with(new ToolPolicy(Permission.ALLOW, List.of(), List.of(), List.of()));
    talk =
        new EmbeddedTestServer(
            EmbeddedTestServer.config(folder, agent).keepingDataIn(data), TestServer.MODULES);
    Files.writeString(folder.resolve("visible.txt"), "visible needle");
    Files.writeString(data.resolve("notes.csv"), "secret needle");
    Files.createSymbolicLink(folder.resolve("link"), data.resolve("log.db"));
    Files.createLink(folder.resolve("hard.csv"), data.resolve("notes.csv"));
  }

  @AfterEach
  void stop() {
    talk.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data/vault.key",
        "data/log.db",
        "data/log.db-wal",
        "deep/kept/views.db",
        "deep/../deep/kept/notes.csv",
        "link",
        "hard.csv",
        "$FOLDER/deep/kept/notes.csv"
      })
  void its_files_are_neither_read_nor_changed(String named) throws Exception {
    var path = named.replace("$FOLDER", folder.toRealPath().toString());
    Files.writeString(data.resolve("vault.key"), "secret");

    assertThat(use("read_file", Json.object().put("path", path))).contains(REFUSED);
    assertThat(use("edit_file", edit(path))).contains(REFUSED);
    assertThat(use("write_file", Json.object().put("path", path).put("content", "x")))
        .contains(REFUSED);
    var files = Json.object().put("name", "set");
    files.putArray("files").add(path);
    assertThat(use("dataset", files)).contains(REFUSED);
    assertThat(data.resolve("notes.csv")).hasContent("secret needle");
    assertThat(data.resolve("vault.key")).hasContent("secret");
  }

  @Test
  void no_file_is_made_among_them() throws Exception {
    var file = Json.object().put("path", "data/children/new.txt").put("content", "x");

    assertThat(use("write_file", file)).contains(REFUSED);
    assertThat(data.resolve("children/new.txt")).doesNotExist();
  }

  @Test
  void they_are_not_listed_and_not_searched() throws Exception {
    assertThat(use("list_files", Json.object().put("recursive", true)))
        .contains("visible.txt")
        .contains("deep")
        .doesNotContain("kept")
        .doesNotContain("hard.csv")
        .doesNotContain("log.db");
    assertThat(use("search_files", Json.object().put("text", "needle")))
        .contains("visible needle")
        .doesNotContain("secret");
    assertThat(use("list_files", Json.object().put("path", "data"))).contains(REFUSED);
    assertThat(use("search_files", Json.object().put("text", "x").put("path", "deep/kept")))
        .contains(REFUSED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"data", "deep/kept", "deep/kept/children"})
  void no_task_works_among_them(String directory) throws IOException {
    Files.createDirectories(data.resolve("children"));
    var message = NewMessage.text("say hello").in(folder.resolve(directory).toString());

    assertThatThrownBy(() -> talk.say(message))
        .hasMessageContaining("in the data folder of the server");
  }

  private static ObjectNode edit(String path) {
    return Json.object().put("path", path).put("oldText", "secret").put("newText", "x");
  }

  private String use(String tool, ObjectNode arguments) throws InterruptedException {
    return talk.answer(talk.say(NewMessage.text("use " + tool + " " + arguments)));
  }
}
