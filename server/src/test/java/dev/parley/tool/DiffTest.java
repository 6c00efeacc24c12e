package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DiffTest {

  @Test
  void a_diff_looks_as_people_know_it() {
    var before = "a\nb\nc\nd\ne\nf\n";

    assertThat(Diff.shown("x.txt", before, "a\nb\nc\nD\ne\nf\n"))
        .isEqualTo("--- x.txt\n+++ x.txt\n@@ -1,6 +1,6 @@\n a\n b\n c\n-d\n+D\n e\n f\n");
    assertThat(Diff.shown("x.txt", "", "one\n"))
        .isEqualTo("--- /dev/null\n+++ x.txt\n@@ -0,0 +1 @@\n+one\n");
    assertThat(Diff.shown("x.txt", "one\n", "one"))
        .isEqualTo("--- x.txt\n+++ x.txt\n@@ -1 +1 @@\n-one\n+one\n\\ No newline at end of file\n");
    assertThat(Diff.shown("x.txt", before, before)).isEmpty();
  }

  @Test
  void changes_far_apart_have_hunks_of_their_own() {
    var lines = IntStream.range(0, 40).mapToObj(i -> "line " + i + "\n").toList();
    var changed = new ArrayList<>(lines);
    changed.set(3, "three\n");
    changed.remove(35);

    assertThat(Diff.whole("x", String.join("", lines), String.join("", changed)))
        .contains("@@ -1,7 +1,7 @@\n", "@@ -33,7 +33,6 @@\n");
  }

  @Test
  void a_long_diff_is_cut_and_says_so() {
    var many = "line\n".repeat(10_000);

    assertThat(Diff.shown("x", "", many)).hasSizeLessThan(7_000).contains("more lines");
    assertThat(Diff.shown("x", "", "x".repeat(100_000))).hasSizeLessThan(7_000).contains("more");
  }

  @Test
  void texts_too_large_to_compare_are_replaced_whole() {
    var before = text(new Random(1), 3_000);
    var after = "first\n" + text(new Random(2), 3_000) + "last\n";

    assertThat(apply(Diff.whole("x", before, after), before)).isEqualTo(after);
  }

  @Test
  void what_a_diff_says_makes_the_new_text_of_the_old() {
    var random = new Random(42);
    for (var round = 0; round < 500; round++) {
      var before = text(random, random.nextInt(30));
      var after = random.nextBoolean() ? text(random, random.nextInt(30)) : before + "x";

      assertThat(apply(Diff.whole("x", before, after), before)).isEqualTo(after);
    }
  }

  private static String text(Random random, int lines) {
    var text =
        IntStream.range(0, lines)
            .mapToObj(_ -> "abc".charAt(random.nextInt(3)) + "\n")
            .collect(Collectors.joining());
    return random.nextInt(3) == 0 && !text.isEmpty() ? text.substring(0, text.length() - 1) : text;
  }

  /// Applies a diff, as `patch` does.
  private static String apply(String diff, String text) {
    if (diff.isEmpty()) {
      return text;
    }
    var old = text.split("(?<=\n)", -1);
    var result = new StringBuilder();
    var at = 0;
    List<String> lines = diff.lines().toList();
    for (var i = 2; i < lines.size(); i++) {
      var line = lines.get(i);
      if (line.startsWith("@@")) {
        var range = line.substring(4, line.indexOf(' ', 4)).split(",", -1);
        var start = Integer.parseInt(range[0]) - (range.length > 1 && range[1].equals("0") ? 0 : 1);
        while (at < start) {
          result.append(old[at++]);
        }
      } else if (!line.startsWith("\\")) {
        var bare = i + 1 < lines.size() && lines.get(i + 1).startsWith("\\");
        var content = line.substring(1) + (bare ? "" : "\n");
        if (line.charAt(0) != '+') {
          assertThat(old[at++]).isEqualTo(content);
        }
        if (line.charAt(0) != '-') {
          result.append(content);
        }
      }
    }
    while (at < old.length) {
      result.append(old[at++]);
    }
    return result.toString();
  }
}
