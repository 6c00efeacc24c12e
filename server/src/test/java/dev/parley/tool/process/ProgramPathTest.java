package dev.parley.tool.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Tests where programs are found.
class ProgramPathTest {

  @TempDir Path folder;

  @Test
  void a_name_is_looked_up_on_the_path_and_the_first_file_that_runs_counts() throws IOException {
    var unfit = Files.createDirectory(folder.resolve("unfit"));
    Files.writeString(unfit.resolve("tool"), "not executable");
    var first = program("first/tool");
    program("second/tool");

    assertThat(find("tool", unfit.toString(), "", "first", "second")).contains(first);
    assertThat(find("other", "first", "second")).isEmpty();
    assertThat(find("", "first")).isEmpty();
  }

  @Test
  void a_name_with_a_slash_is_relative_to_the_folder() throws IOException {
    var tool = program("first/tool");

    assertThat(find("first/tool", "second")).contains(tool);
    assertThat(find(tool.toString())).contains(tool);
    assertThat(find("./tool", "first")).isEmpty();
  }

  @Test
  void an_entry_that_is_no_path_does_not_hide_the_next_one() throws IOException {
    var tool = program("first/tool");

    assertThat(find("tool", "no\0path", "first")).contains(tool);
    assertThat(find("no\0name", "first")).isEmpty();
    assertThat(find("no\0name/tool", "first")).isEmpty();
  }

  private Optional<Path> find(String name, String... path) {
    return ProgramPath.find(
        name, Map.of("PATH", String.join(File.pathSeparator, List.of(path))), folder);
  }

  private Path program(String name) throws IOException {
    var file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return file;
  }
}
