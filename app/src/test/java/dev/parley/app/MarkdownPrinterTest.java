package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MarkdownPrinterTest {

  private static final String DOCUMENT =
      """
      # Report
      Some **bold**, *italic*, ~~old~~ and `code *x*` with snake_case_name and 2*3*4.
      - one [link](https://example.org/a) 🦜
        1. two \\*not\\*
      > quoted **words**

      ```java
      var x = **1**; # no heading
      ```
      ---
      | Name | Count |
      |:-----|------:|
      | `a`  | 1     |
      | 漢字 | 22    |
      The end *
      """;

  private static final String SHOWN =
      """
      <1;4>Report<0>
      Some <1>bold<0>, <3>italic<0>, <9>old<0> and <36>code *x*<0> with snake_case_name and 2*3*4.
      • one <4>link<0><2> (https://example.org/a)<0> 🦜
        1. two *not*
      <2>│ <0><3>quoted <0><3;1>words<0>

      <2>── java<0>
      <36>var x = **1**; # no heading<0>
      <2>──<0>
      <2>────────────────────────────────────────<0>
      <1>Name<0>  <1>Count<0>
      <2>────  ─────<0>
      <36>a<0>         1
      漢字     22
      The end *
      """;

  @Test
  void a_document_is_shown_with_styles() {
    assertThat(shown(DOCUMENT)).isEqualTo(SHOWN);
  }

  @Test
  void it_is_the_same_however_the_text_is_cut() {
    var random = new Random(7);
    for (var round = 0; round < 200; round++) {
      var pieces = new ArrayList<String>();
      for (var from = 0; from < DOCUMENT.length(); ) {
        var to = Math.min(DOCUMENT.length(), from + 1 + random.nextInt(round % 12 + 1));
        pieces.add(DOCUMENT.substring(from, to));
        from = to;
      }
      assertThat(merged(shown(pieces.toArray(String[]::new)))).isEqualTo(merged(SHOWN));
    }
  }

  @Test
  void text_comes_out_as_it_comes_in_up_to_markup_that_is_open() {
    var printed = new StringBuilder();
    var markdownPrinter = new MarkdownPrinter(printed::append);

    markdownPrinter.add("1 2 ");
    assertThat(printed).hasToString("1 2 ");
    markdownPrinter.add("3 **bo");
    assertThat(printed).hasToString("1 2 3 ");
    assertThat(markdownPrinter.midLine()).isTrue();
    markdownPrinter.add("ld** 4");
    assertThat(printed).hasToString("1 2 3 \u001b[1mbold\u001b[0m 4");
    markdownPrinter.add(" **open");
    markdownPrinter.end();
    assertThat(printed.toString()).endsWith(" 4 **open");
  }

  @Test
  void markup_that_never_ends_is_text() {
    assertThat(shown("a **b\n*c `d\n[e](f\n![g\n| no table\nh"))
        .isEqualTo("a **b\n*c `d\n[e](f\n![g\n| no table\nh");
  }

  @Test
  void a_table_at_the_end_needs_no_line_break() {
    assertThat(shown("| A |\n|---|\n| b |")).isEqualTo("<1>A<0>\n<2>─<0>\nb\n");
  }

  @Test
  void code_in_an_item_is_code() {
    assertThat(shown("1. do\n     ```sh\n     ls *\n     ```\nend"))
        .isEqualTo("1. do\n<2>── sh<0>\n<36>     ls *<0>\n<2>──<0>\nend");
  }

  @Test
  void nothing_in_it_can_steer_the_terminal() {
    var attack = "`\u001b[2J` [\u001b]0;x\u0007](\u009b1m)\r\n```\u001b[31m\n\u001bc\u202E\n```\n";
    var printed = new StringBuilder();
    var markdownPrinter = new MarkdownPrinter(printed::append);
    markdownPrinter.add(attack);
    markdownPrinter.end();

    assertThat(printed.toString().replaceAll("\u001b\\[[0-9;]*m", ""))
        .isEqualTo("[2J []0;x](1m)\n── [31m\nc\n──\n");
  }

  /// Terminal codes are written in angle brackets.
  private static String shown(String... pieces) {
    var printed = new StringBuilder();
    var markdownPrinter = new MarkdownPrinter(printed::append);
    for (var piece : pieces) {
      markdownPrinter.add(piece);
    }
    markdownPrinter.end();
    return printed.toString().replaceAll("\u001b\\[([0-9;]*)m", "<$1>");
  }

  /// Text in one style may be printed in pieces.
  private static String merged(String shown) {
    var before = "";
    var merged = shown;
    while (!merged.equals(before)) {
      before = merged;
      merged = merged.replaceAll("<([1-9][0-9;]*)>([^<]*)<0><\\1>", "<$1>$2");
    }
    return merged;
  }
}
