package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class WriteToolsTest {

  @TempDir Path top;

  private Path folder;
  private Path elsewhere;
  private FakeToolContext fakeToolContext;

  @BeforeEach
  void files() throws IOException {
    folder = Files.createDirectory(top.resolve("work"));
    elsewhere = Files.createDirectory(top.resolve("elsewhere"));
    Files.writeString(elsewhere.resolve("secret.txt"), "secret");
    Files.createDirectory(folder.resolve("sub"));
    Files.writeString(folder.resolve("text.txt"), "one\ntwo\nthree\n");
    Files.createSymbolicLink(folder.resolve("out"), elsewhere);
    Files.createSymbolicLink(folder.resolve("out.txt"), elsewhere.resolve("secret.txt"));
    Files.createSymbolicLink(folder.resolve("dangling"), elsewhere.resolve("new.txt"));
    Files.createSymbolicLink(folder.resolve("in.txt"), folder.resolve("text.txt"));
    Files.createSymbolicLink(folder.resolve("sub/up"), folder.resolve(".."));
    fakeToolContext = FakeToolContext.in(folder);
  }

  @Test
  void a_file_is_made_with_its_folders_and_replaced_whole() throws Exception {
    var made = FakeToolContext.done(write("a/b/c.txt", "hello\n"));

    assertThat(made.toString())
        .isEqualTo(
            "{\"path\":\"a/b/c.txt\",\"created\":true,\"bytes\":6,"
                + "\"diff\":\"--- /dev/null\\n+++ a/b/c.txt\\n@@ -0,0 +1 @@\\n+hello\\n\"}");
    var replaced = FakeToolContext.done(write("a/b/c.txt", "bye\n"));
    assertThat(replaced.path("created").asBoolean()).isFalse();
    assertThat(replaced.path("diff").asString()).contains("-hello\n+bye\n");
    assertThat(read("a/b/c.txt")).isEqualTo("bye\n");
    assertThat(names(folder.resolve("a/b"))).containsExactly("c.txt");
  }

  @Test
  void the_same_content_again_changes_nothing() {
    write("x.txt", "x");

    assertThat(FakeToolContext.done(write("x.txt", "x")).path("diff").asString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../evil.txt",
        "sub/../../evil.txt",
        "/etc/evil.txt",
        "out/evil.txt",
        "out/new/evil.txt",
        "out.txt",
        "dangling",
        "sub/up/evil.txt",
        "",
        ".",
        "sub",
        "a\0b",
        "text.txt/evil.txt",
      })
  void nothing_outside_the_folder_can_be_written(String path) throws IOException {
    for (var result : List.of(write(path, "evil"), edit(path, "secret", "evil", null))) {
      assertThat(FakeToolContext.failed(result)).doesNotContain(elsewhere.toString());
    }
    assertThat(names(elsewhere)).containsExactly("secret.txt");
    assertThat(elsewhere.resolve("secret.txt")).hasContent("secret");
    assertThat(names(top)).containsExactly("elsewhere", "work");
    assertThat(names(folder))
        .containsExactly("dangling", "in.txt", "out", "out.txt", "sub", "text.txt");
  }

  @Test
  void paths_made_of_anything_stay_inside() throws IOException {
    var random = new Random(7);
    var steps =
        List.of("..", ".", "sub", "out", "up", "in.txt", "out.txt", "dangling", "x", "~", "");
    for (var round = 0; round < 400; round++) {
      var path =
          IntStream.range(0, 1 + random.nextInt(6))
              .mapToObj(_ -> steps.get(random.nextInt(steps.size())))
              .collect(Collectors.joining("/", random.nextInt(8) == 0 ? "/" : "", ""));
      write(path, "content");
    }

    assertThat(names(elsewhere)).containsExactly("secret.txt");
    assertThat(elsewhere.resolve("secret.txt")).hasContent("secret");
    assertThat(names(top)).containsExactly("elsewhere", "work");
  }

  @Test
  void a_link_that_is_put_there_meanwhile_leads_nowhere() throws Exception {
    var stop = new AtomicBoolean();
    var swapper =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (var i = 0; !stop.get(); i++) {
                    swap(folder.resolve("swap"), folder.resolve("away-" + i));
                  }
                });
    var written = 0;
    try {
      // More rounds if the folder was never there: the order is random.
      for (var i = 0; i < 500 || (written == 0 && i < 200_000); i++) {
        written += write("swap/file.txt", "content") instanceof ToolResult.Done ? 1 : 0;
      }
    } finally {
      stop.set(true);
      swapper.join();
    }

    assertThat(written).isPositive();
    assertThat(names(elsewhere)).containsExactly("secret.txt");
  }

  /// Replaces the folder by a link for a moment.
  private void swap(Path swapped, Path away) {
    for (Swap step :
        List.<Swap>of(
            () -> Files.move(swapped, away),
            () -> Files.createSymbolicLink(swapped, elsewhere),
            () -> {
              if (Files.isSymbolicLink(swapped)) {
                Files.delete(swapped);
              }
            })) {
      try {
        step.run();
      } catch (IOException other) {
        // The tool may have created the folder.
      }
    }
  }

  private interface Swap {
    void run() throws IOException;
  }

  @Test
  void a_link_that_stays_inside_is_written_through_and_stays_a_link() throws IOException {
    assertThat(FakeToolContext.done(write("in.txt", "new")).path("path").asString())
        .isEqualTo("text.txt");

    assertThat(read("text.txt")).isEqualTo("new");
    assertThat(folder.resolve("in.txt")).isSymbolicLink();
  }

  @Test
  void a_hard_link_to_elsewhere_is_cut_and_not_written_through() throws IOException {
    Files.createLink(folder.resolve("hard.txt"), elsewhere.resolve("secret.txt"));
    write("hard.txt", "mine");

    assertThat(elsewhere.resolve("secret.txt")).hasContent("secret");
    assertThat(read("hard.txt")).isEqualTo("mine");
  }

  @Test
  void permissions_are_kept_and_read_only_files_too() throws IOException {
    var script = folder.resolve("run.sh");
    Files.writeString(script, "old");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxrwx--x"));
    write("run.sh", "new");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(script)))
        .isEqualTo("rwxrwx--x");

    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("r--r--r--"));
    assertThat(FakeToolContext.failed(write("run.sh", "newer"))).contains("read-only");
    assertThat(read("run.sh")).isEqualTo("new");
  }

  @Test
  void what_a_crash_left_behind_is_in_nobodys_way() throws IOException {
    var draft = ".parley-%08x.tmp".formatted(fakeToolContext.key().hashCode());
    Files.writeString(folder.resolve(draft), "half");
    write("x.txt", "whole");

    assertThat(read("x.txt")).isEqualTo("whole");
    assertThat(folder.resolve(draft)).doesNotExist();
  }

  @Test
  void too_much_is_refused_and_special_files_are_too() throws Exception {
    assertThat(FakeToolContext.failed(write("big", "x".repeat(FileChange.BYTES_MAX + 1))))
        .contains("must not be larger than 4 MiB");
    assertThat(folder.resolve("big")).doesNotExist();
    new ProcessBuilder("mkfifo", folder.resolve("pipe").toString()).start().waitFor();
    assertThat(FakeToolContext.failed(write("pipe", "x"))).contains("not a file");
    assertThat(FakeToolContext.failed(edit("pipe", "x", "y", null))).contains("not a file");
  }

  @Test
  void a_piece_is_replaced_where_it_is_there_once() throws IOException {
    var result = FakeToolContext.done(edit("text.txt", "two\n", "2\n2½\n", null));

    assertThat(result.path("diff").asString()).contains("-two\n+2\n+2½\n");
    assertThat(read("text.txt")).isEqualTo("one\n2\n2½\nthree\n");
  }

  @Test
  void a_piece_that_is_there_several_times_needs_to_be_told_apart() throws IOException {
    assertThat(FakeToolContext.failed(edit("text.txt", "e", "E", null)))
        .contains("3 times", "lines 1, 3, 3", "replaceAll");
    assertThat(read("text.txt")).isEqualTo("one\ntwo\nthree\n");
    FakeToolContext.done(edit("text.txt", "e", "E", true));
    assertThat(read("text.txt")).isEqualTo("onE\ntwo\nthrEE\n");
  }

  @Test
  void a_near_miss_is_told() throws IOException {
    Files.writeString(folder.resolve("code"), "if (a) {\n\tCall( b );\n}\n");

    assertThat(FakeToolContext.failed(edit("code", "if (a) {\n  Call( b );", "", null)))
        .contains("Line 1 is the same but for spaces", "\tCall( b );");
    assertThat(FakeToolContext.failed(edit("code", "call( b );", "", null)))
        .contains("Line 2", "case");
    assertThat(FakeToolContext.failed(edit("code", "if (a) {\n  other();", "", null)))
        .contains("first line is line 1");
    assertThat(FakeToolContext.failed(edit("code", "gone", "Call", null)))
        .contains("newText is there");
    assertThat(FakeToolContext.failed(edit("code", "gone", "nowhere", null)))
        .contains("Read the file");
    assertThat(FakeToolContext.failed(edit("code", " \n ", "x", null))).contains("whitespace");
    assertThat(FakeToolContext.failed(edit("code", "", "x", null))).contains("oldText is empty");
    assertThat(FakeToolContext.failed(edit("code", "x", "x", null))).contains("the same");
    assertThat(FakeToolContext.failed(edit("missing", "x", "y", null))).contains("no such file");
    assertThat(FakeToolContext.failed(edit("new/missing", "x", "y", null)))
        .contains("no such file");
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void line_ends_encodings_and_marks_of_a_file_are_kept() throws IOException {
    Files.writeString(folder.resolve("dos"), "\uFEFFa\r\nb\r\nc\r\n");
    FakeToolContext.done(edit("dos", "a\nb\n", "x\ny\n", null));
    assertThat(read("dos")).isEqualTo("\uFEFFx\r\ny\r\nc\r\n");

    Files.write(folder.resolve("latin"), "süß".getBytes(StandardCharsets.ISO_8859_1));
    FakeToolContext.done(edit("latin", "ß", "ö", null));
    assertThat(Files.readString(folder.resolve("latin"), StandardCharsets.ISO_8859_1))
        .isEqualTo("süö");
    assertThat(FakeToolContext.failed(edit("latin", "ö", "🙂", null)))
        .contains("lacks a character");

    Files.write(folder.resolve("binary"), new byte[] {1, 0, 2});
    assertThat(FakeToolContext.failed(edit("binary", "x", "y", null))).contains("not a text file");
  }

  @Test
  void a_preview_shows_what_would_change_and_changes_nothing() throws IOException {
    var edit = Json.object().put("path", "text.txt").put("oldText", "two").put("newText", "2");
    var write = Json.object().put("path", "deep/new.txt").put("content", "x\n");
    var wrong = Json.object().put("path", "../x").put("content", "x\n");

    assertThat(new EditFileTool().preview(edit, fakeToolContext).orElseThrow())
        .contains("-two\n+2\n");
    assertThat(new WriteFileTool().preview(write, fakeToolContext).orElseThrow())
        .contains("+++ deep/new.txt");
    assertThat(new WriteFileTool().preview(wrong, fakeToolContext).orElseThrow())
        .contains("will not work");
    assertThatThrownBy(() -> new WriteFileTool().preview(Json.object(), fakeToolContext))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessage("path is missing");
    assertThat(folder.resolve("deep")).doesNotExist();
    assertThat(read("text.txt")).isEqualTo("one\ntwo\nthree\n");
  }

  @Test
  void arguments_that_do_not_fit_are_refused_in_words_that_help() {
    var tool = new EditFileTool();
    var path = Json.object().put("path", 1).put("oldText", "a").put("newText", "b");
    var all =
        Json.object().put("path", "a").put("oldText", "a").put("newText", "b").put("replaceAll", 1);

    var unknown = all.deepCopy().put("replace_all", true);

    assertThatThrownBy(() -> tool.call(path, fakeToolContext)).hasMessage("path must be a string");
    assertThatThrownBy(() -> tool.call(unknown, fakeToolContext))
        .hasMessage(
            "there is no argument replace_all; there are: path, oldText, newText, replaceAll");
    assertThatThrownBy(() -> tool.call(all, fakeToolContext))
        .hasMessage("replaceAll must be true or false");
    assertThatThrownBy(() -> tool.call(Json.object().put("path", "a"), fakeToolContext))
        .hasMessage("oldText is missing");
  }

  private ToolResult write(String path, String content) {
    return new WriteFileTool().call(new WriteFileTool.Arguments(path, content), fakeToolContext);
  }

  private ToolResult edit(String path, String old, String now, @Nullable Boolean all) {
    return new EditFileTool()
        .call(new EditFileTool.Arguments(path, old, now, all), fakeToolContext);
  }

  private String read(String path) throws IOException {
    return Files.readString(folder.resolve(path));
  }

  private static List<String> names(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
