package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.net.OutgoingHttpClient;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.tool.process.ManagedProcesses;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuiltInToolsTest {

  @TempDir Path folder;

  private ManagedProcesses managedProcesses;
  private List<Tool> tools;

  @BeforeEach
  void open() {
    managedProcesses = new ManagedProcesses(folder.resolve("children"), () -> "id");
    tools =
        BuiltInTools.all(
            new BuiltInTools.BuiltInToolsDependencies(
                new ManualTime(),
                new SystemThreads(),
                new OutgoingHttpClient(new ManualTime(), new SystemThreads()),
                managedProcesses,
                Map.of(),
                Set.of(),
                Credentials.none(),
                FileAccess.WITHOUT_SERVER));
  }

  @AfterEach
  void close() {
    managedProcesses.close();
  }

  @Test
  void every_group_has_tools_and_every_tool_a_group_and_a_name_of_its_own() {
    assertThat(tools).extracting(Tool::name).doesNotHaveDuplicates();
    assertThat(tools.stream().map(BuiltInTools::group).distinct())
        .containsExactlyInAnyOrderElementsOf(BuiltInTools.GROUPS);
    assertThat(tools).allMatch(tool -> BuiltInTools.isKnown(tool.name()));
    assertThat(BuiltInTools.isKnown("nonsense")).isFalse();
  }

  @Test
  void tools_are_picked_by_group_or_one_by_one() {
    assertThat(BuiltInTools.named(List.of("files", "report"), tools))
        .extracting(Tool::name)
        .containsExactlyInAnyOrder(
            "read_file", "list_files", "search_files", "write_file", "edit_file", "report");
    assertThat(BuiltInTools.named(List.of("fetch"), tools))
        .extracting(Tool::name)
        .containsExactly("fetch");
  }

  @Test
  void what_changes_the_world_or_talks_to_it_asks_first() {
    assertThat(tools.stream().filter(tool -> tool.permission() == Tool.Permission.ASK))
        .extracting(Tool::name)
        .containsExactlyInAnyOrder("write_file", "edit_file", "shell", "http", "fetch");
  }

  @Test
  void no_tool_changes_the_schema_that_all_tasks_share() {
    for (var tool : tools) {
      var before = ((TypedTool<?>) tool).schema().deepCopy();

      var _ = tool.schema();
      var _ = tool.schema();

      assertThat(ArgumentsSchema.of(((TypedTool<?>) tool).arguments())).isEqualTo(before);
    }
  }

  @Test
  void every_schema_says_what_is_needed() {
    for (var tool : tools) {
      assertThat(tool.schema().path("type").asString()).isEqualTo("object");
      assertThat(tool.schema().has("required")).isTrue();
      assertThat(tool.description()).hasSizeBetween(20, 600);
    }
  }
}
