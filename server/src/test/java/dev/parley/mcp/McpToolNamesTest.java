package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class McpToolNamesTest {

  @Test
  void names_that_would_be_the_same_are_told_apart_in_any_order() {
    var one = new McpToolNames.ToolOrigin("a_b", "c");
    var other = new McpToolNames.ToolOrigin("a", "b_c");

    var names = McpToolNames.of(List.of(one, other), Set.of());

    assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.startsWith("a_b_c_"));
    assertThat(McpToolNames.of(List.of(other, one), Set.of()))
        .containsExactly(names.get(1), names.get(0));
  }

  @Test
  void a_name_that_another_tool_has_is_not_used() {
    assertThat(
            McpToolNames.of(
                List.of(new McpToolNames.ToolOrigin("read", "file")), Set.of("read_file")))
        .singleElement()
        .asString()
        .matches("read_file_[0-9a-f]{6}");
  }

  @Test
  void long_and_strange_names_are_made_fit() {
    var names =
        McpToolNames.of(
            List.of(
                new McpToolNames.ToolOrigin("s", "x".repeat(100) + "1"),
                new McpToolNames.ToolOrigin("s", "x".repeat(100) + "2"),
                new McpToolNames.ToolOrigin("s", "a/b ü")),
            Set.of());

    assertThat(names).doesNotHaveDuplicates().allMatch(name -> name.matches("[\\w-]{1,64}"));
    assertThat(names.getLast()).isEqualTo("s_a_b__");
  }
}
