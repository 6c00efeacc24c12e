package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Prompt.Part;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.StringNode;

class TokenCountTest {

  @Test
  void four_latin_characters_make_a_token_and_any_other_makes_one() {
    assertThat(TokenCount.of("")).isZero();
    assertThat(TokenCount.of("four")).isEqualTo(1);
    assertThat(TokenCount.of("five5")).isEqualTo(2);
    assertThat(TokenCount.of("éàüß")).isEqualTo(1);
    assertThat(TokenCount.of("東京都")).isEqualTo(3);
    assertThat(TokenCount.of("x".repeat(4_000))).isEqualTo(1_000);
  }

  @Test
  void a_text_is_cut_at_a_number_of_tokens_and_never_within_a_character() {
    assertThat(TokenCount.head("12345678", 2)).isEqualTo("12345678");
    assertThat(TokenCount.head("123456789", 2)).isEqualTo("12345678…");
    assertThat(TokenCount.head("東京都", 2)).isEqualTo("東京…");
    assertThat(TokenCount.head("a😀b", 1)).isEqualTo("a…");
    assertThat(TokenCount.head("a😀b", 2)).isEqualTo("a…");
  }

  @Test
  void results_are_left_out_by_tokens_the_oldest_first_and_never_the_newest() {
    var parts = new ArrayList<Part>();
    parts.add(new Part.Said(Role.USER, "go"));
    for (var i = 0; i < 6; i++) {
      var text = StringNode.valueOf("東".repeat(100));
      parts.add(new Part.Returned(new ToolCallId("c" + i), "t", true, text));
    }

    // Counted in characters, everything would fit into four times as much.
    var fitted = Budget.fit(parts, 560);

    assertThat(fitted.stream().map(TokenCountTest::shown))
        .containsExactly("go", "[left", "東東東東東", "東東東東東", "東東東東東", "東東東東東", "東東東東東");
    assertThat(Budget.fit(parts, 10).stream().map(TokenCountTest::shown))
        .containsExactly("go", "[left", "[left", "東東東東東", "東東東東東", "東東東東東", "東東東東東");
    assertThat(Budget.fit(parts, 1_000)).isEqualTo(parts);
  }

  private static String shown(Part part) {
    var text =
        switch (part) {
          case Part.Said said -> said.text();
          case Part.Asked asked -> asked.text();
          case Part.Returned returned -> returned.result().asString();
        };
    return text.substring(0, Math.min(5, text.length()));
  }
}
