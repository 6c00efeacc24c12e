package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.StringNode;

class TokenEstimateTest {

  @Test
  void four_latin_characters_make_a_token_and_any_other_makes_one() {
    assertThat(TokenEstimate.of("")).isZero();
    assertThat(TokenEstimate.of("four")).isEqualTo(1);
    assertThat(TokenEstimate.of("five5")).isEqualTo(2);
    assertThat(TokenEstimate.of("éàüß")).isEqualTo(1);
    assertThat(TokenEstimate.of("東京都")).isEqualTo(3);
    assertThat(TokenEstimate.of("x".repeat(4_000))).isEqualTo(1_000);
  }

  @Test
  void a_text_is_cut_at_a_number_of_tokens_and_never_within_a_character() {
    assertThat(TokenEstimate.truncate("12345678", 2)).isEqualTo("12345678");
    assertThat(TokenEstimate.truncate("123456789", 2)).isEqualTo("12345678…");
    assertThat(TokenEstimate.truncate("東京都", 2)).isEqualTo("東京…");
    assertThat(TokenEstimate.truncate("a😀b", 1)).isEqualTo("a…");
    assertThat(TokenEstimate.truncate("a😀b", 2)).isEqualTo("a…");
  }

  @Test
  void results_are_left_out_by_tokens_the_oldest_first_and_never_the_newest() {
    var parts = new ArrayList<PromptPart>();
    parts.add(new PromptPart.PromptMessage(Role.USER, "go"));
    for (var i = 0; i < 6; i++) {
      var text = StringNode.valueOf("東".repeat(100));
      parts.add(new PromptPart.PromptToolResult(new ToolCallId("c" + i), "t", true, text));
    }

    // Counted in characters, everything would fit into four times as much.
    var fitted = PromptBudget.fit(parts, 560);

    assertThat(fitted.stream().map(TokenEstimateTest::shown))
        .containsExactly("go", "[left", "東東東東東", "東東東東東", "東東東東東", "東東東東東", "東東東東東");
    assertThat(PromptBudget.fit(parts, 10).stream().map(TokenEstimateTest::shown))
        .containsExactly("go", "[left", "[left", "東東東東東", "東東東東東", "東東東東東", "東東東東東");
    assertThat(PromptBudget.fit(parts, 1_000)).isEqualTo(parts);
  }

  private static String shown(PromptPart promptPart) {
    var text =
        switch (promptPart) {
          case PromptPart.PromptMessage promptMessage -> promptMessage.text();
          case PromptPart.PromptToolCalls promptToolCalls -> promptToolCalls.text();
          case PromptPart.PromptToolResult promptToolResult -> promptToolResult.result().asString();
        };
    return text.substring(0, Math.min(5, text.length()));
  }
}
