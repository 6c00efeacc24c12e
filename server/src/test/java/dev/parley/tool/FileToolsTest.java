package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileToolsTest {

  @TempDir Path folder;
  @TempDir Path elsewhere;

  private FakeToolContext fakeToolContext;

  @BeforeEach
  void files() throws IOException {
    Files.writeString(elsewhere.resolve("secret.txt"), "secret");
    Files.createDirectory(folder.resolve("sub"));
    Files.writeString(folder.resolve("sub/inner.txt"), "inner needle");
    Files.writeString(folder.resolve("text.txt"), "hello\nneedle and Needle\n");
    Files.createSymbolicLink(folder.resolve("out"), elsewhere);
    Files.createSymbolicLink(folder.resolve("out.txt"), elsewhere.resolve("secret.txt"));
    Files.createSymbolicLink(folder.resolve("in.txt"), folder.resolve("text.txt"));
    fakeToolContext = FakeToolContext.in(folder);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../secret.txt",
        "sub/../../x",
        "/etc/passwd",
        "out/secret.txt",
        "out.txt",
        "missing",
        "",
        "a\0b",
        "~/x"
      })
  void nothing_outside_the_folder_can_be_read(String path) {
    var reason = FakeToolContext.failed(read(path, null, null));

    assertThat(reason).doesNotContain(elsewhere.toString());
  }

  @Test
  void an_absolute_path_and_a_link_that_stay_inside_can_be_read() {
    var absolute = fakeToolContext.workingDirectory().resolve("text.txt").toString();

    assertThat(FakeToolContext.done(read(absolute, null, null)).path("path").asString())
        .isEqualTo("text.txt");
    assertThat(FakeToolContext.done(read("in.txt", null, null)).path("content").asString())
        .startsWith("hello");
    assertThat(FakeToolContext.done(read("sub/inner.txt", null, null)).path("path").asString())
        .isEqualTo("sub/inner.txt");
  }

  @Test
  void a_long_file_is_read_page_by_page_and_no_character_is_cut() throws IOException {
    var text = "🙂".repeat(30_000);
    Files.writeString(folder.resolve("long.txt"), text);
    var all = new StringBuilder();
    for (Integer offset = 0; offset != null; ) {
      var page = FakeToolContext.done(read("long.txt", offset, null));
      var content = page.path("content").asString();
      assertThat(content.getBytes(StandardCharsets.UTF_8)).hasSize(content.length() * 2);
      all.append(content);
      offset = page.has("nextOffset") ? (Integer) page.path("nextOffset").asInt() : null;
    }

    assertThat(all.toString()).isEqualTo(text);
  }

  @Test
  void pages_outside_the_file_are_refused() {
    assertThat(FakeToolContext.failed(read("text.txt", -1, null))).contains("offset");
    assertThat(FakeToolContext.failed(read("text.txt", 1_000, null))).contains("offset");
    assertThat(FakeToolContext.failed(read("text.txt", 0, 0))).contains("limit");
  }

  @Test
  void binary_files_and_folders_are_refused_and_other_encodings_are_read() throws IOException {
    Files.write(folder.resolve("binary"), new byte[] {1, 0, 2});
    Files.write(folder.resolve("latin"), "süß".getBytes(StandardCharsets.ISO_8859_1));
    Files.write(folder.resolve("bom"), "\uFEFFtext".getBytes(StandardCharsets.UTF_8));

    assertThat(FakeToolContext.failed(read("binary", null, null))).contains("not a text file");
    assertThat(FakeToolContext.failed(read("sub", null, null))).contains("not a file");
    assertThat(FakeToolContext.done(read("latin", null, null)).path("content").asString())
        .isEqualTo("süß");
    assertThat(FakeToolContext.done(read("bom", null, null)).path("content").asString())
        .isEqualTo("text");
  }

  @Test
  void a_file_over_the_limit_is_refused() throws IOException {
    Files.write(folder.resolve("huge"), new byte[TextFile.BYTES_MAX + 1]);

    assertThat(FakeToolContext.failed(read("huge", null, null))).contains("larger than");
  }

  @Test
  void files_are_listed_by_name_without_links() throws Exception {
    assertThat(list(null, null, null)).containsExactly("sub", "text.txt");
    assertThat(list(null, "*.TXT", true)).containsExactly("sub/inner.txt", "text.txt");
    assertThat(list("sub", null, null)).containsExactly("sub/inner.txt");
    assertThat(list(null, "[", null)).isEmpty();
    var outside = new ListFilesTool.Arguments("..", null, null);
    assertThat(FakeToolContext.failed(new ListFilesTool().call(outside, fakeToolContext)))
        .contains("no such file");
  }

  @Test
  void a_long_listing_is_cut_and_says_so() throws Exception {
    for (var i = 0; i < 501; i++) {
      Files.createFile(folder.resolve("f" + i));
    }
    var all = new ListFilesTool.Arguments(null, "f*", null);
    var result = FakeToolContext.done(new ListFilesTool().call(all, fakeToolContext));

    assertThat(result.path("entries").size()).isEqualTo(500);
    assertThat(result.path("note").asString()).contains("more");
  }

  @Test
  void lines_are_found_below_the_folder_and_not_outside() throws Exception {
    var needle = new SearchFilesTool.Arguments("NEEDLE", null, null);
    var result = FakeToolContext.done(new SearchFilesTool().call(needle, fakeToolContext));

    assertThat(result.path("matches").valueStream().map(m -> m.path("path").asString()))
        .containsExactly("sub/inner.txt", "text.txt");
    var secret = new SearchFilesTool.Arguments("secret", null, null);
    assertThat(
            FakeToolContext.done(new SearchFilesTool().call(secret, fakeToolContext))
                .path("matches")
                .size())
        .isZero();
    var blank = new SearchFilesTool.Arguments(" ", null, null);
    assertThat(FakeToolContext.failed(new SearchFilesTool().call(blank, fakeToolContext)))
        .contains("blank");
  }

  @Test
  void the_schema_names_what_is_required() {
    assertThat(ArgumentsSchema.of(ReadFileTool.Arguments.class))
        .isEqualTo(
            Json.read(
                """
                {"type":"object",
                 "properties":{"path":{"type":"string"},"offset":{"type":"integer"},
                   "limit":{"type":"integer"}},
                 "required":["path"],"additionalProperties":false}
                """
                    .getBytes(StandardCharsets.UTF_8),
                tools.jackson.databind.node.ObjectNode.class));
  }

  private ToolResult read(String path, Integer offset, Integer limit) {
    return new ReadFileTool()
        .call(new ReadFileTool.Arguments(path, offset, limit), fakeToolContext);
  }

  private java.util.List<String> list(String path, String pattern, Boolean recursive)
      throws InterruptedException {
    var arguments = new ListFilesTool.Arguments(path, pattern, recursive);
    return FakeToolContext.done(new ListFilesTool().call(arguments, fakeToolContext))
        .path("entries")
        .valueStream()
        .map(entry -> entry.path("path").asString())
        .toList();
  }
}
