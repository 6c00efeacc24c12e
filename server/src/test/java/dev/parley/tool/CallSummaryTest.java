package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.net.AddressPolicy;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallSummaryTest {

  @TempDir Path folder;

  @Test
  void a_file_that_is_there_is_overwritten_and_one_that_is_not_is_created() throws Exception {
    Files.writeString(folder.resolve("notes.txt"), "");
    Files.createDirectory(folder.resolve("sub"));
    var fakeToolContext = FakeToolContext.in(folder);

    assertThat(write("notes.txt", fakeToolContext)).isEqualTo("Overwrites notes.txt");
    assertThat(write("sub/new.txt", fakeToolContext)).isEqualTo("Creates sub/new.txt");
    assertThat(write("deep/new.txt", fakeToolContext)).isEqualTo("Creates deep/new.txt");
    // A path that cannot be written is not considered harmless.
    assertThat(write("sub", fakeToolContext)).isEqualTo("Overwrites sub");
    assertThat(
            new EditFileTool()
                .summary(new EditFileTool.Arguments("notes.txt", "a", "b", null), fakeToolContext))
        .isEqualTo("Changes notes.txt");
  }

  private static String write(String path, FakeToolContext fakeToolContext) {
    return new WriteFileTool().summary(new WriteFileTool.Arguments(path, "x"), fakeToolContext);
  }

  @Test
  void a_request_names_its_host_and_its_method() throws Exception {
    var fakeToolContext = FakeToolContext.in(folder);
    var time = new ManualTime();
    var httpTool =
        new HttpTool(
            new ToolHttpClient(
                new OutgoingHttpClient(time, new SystemThreads()),
                time,
                new AddressPolicy(Set.of()),
                Credentials.none()));

    assertThat(
            httpTool.summary(
                new HttpTool.Arguments("https://a.test/x", null, null, null), fakeToolContext))
        .isEqualTo("Sends a request to a.test");
    assertThat(
            httpTool.summary(
                new HttpTool.Arguments("https://a.test:1/", "put", null, null), fakeToolContext))
        .isEqualTo("Sends a PUT request to a.test");
    assertThat(
            httpTool.summary(
                new HttpTool.Arguments("no address", "POST", null, null), fakeToolContext))
        .isEqualTo("Sends a POST request");
  }

  @Test
  void a_tool_of_another_program_is_known_by_its_arguments() throws Exception {
    Files.writeString(folder.resolve("there.txt"), "");

    assertThat(foreign("Bash", "command", "ls")).isEqualTo("Runs a command on this machine");
    assertThat(foreign("Write", "file_path", "there.txt")).isEqualTo("Overwrites there.txt");
    assertThat(foreign("Write", "file_path", "new.txt")).isEqualTo("Creates new.txt");
    assertThat(foreign("Edit", "file_path", "there.txt")).isEqualTo("Changes there.txt");
    assertThat(foreign("WebFetch", "url", "https://a.test/"))
        .isEqualTo("Sends a request to a.test");
    assertThat(foreign("Grep", "pattern", "x")).isEqualTo("Reads only, changes nothing");
    assertThat(foreign("deploy", "where", "x")).isEqualTo("May change something");
  }

  private String foreign(String tool, String name, String value) {
    return CallSummary.ofExternal(tool, Json.object().put(name, value), folder);
  }
}
