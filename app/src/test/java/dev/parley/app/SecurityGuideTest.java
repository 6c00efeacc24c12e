package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every threat of `docs/security.md` has a control and an attack, and every attack exists.
class SecurityGuideTest {

  /// A link to a test: [`Class#method`](path). The method may be missing.
  private static final Pattern TEST =
      Pattern.compile("\\[`(\\w+(?:Test|IT))(?:#(\\w+))?`]\\(([^)]+\\.java)\\)");

  private static final Pattern CONTROL =
      Pattern.compile("]\\((?!\\.\\./[^)]*Test)[^)]+\\.md[^)]*\\)|]\\(#");

  private static final Guide GUIDE = Guide.named("security.md");

  private static Stream<String> threats() {
    return Stream.concat(
        IntStream.rangeClosed(1, 10).mapToObj("ASI%02d"::formatted),
        IntStream.rangeClosed(1, 12).mapToObj("A%d"::formatted));
  }

  /// The row of a table that begins with this name.
  private static String row(String name) {
    var rows =
        GUIDE.lines().stream()
            .filter(
                line -> line.startsWith("| " + name + " ") || line.startsWith("| " + name + ":"))
            .toList();
    assertThat(rows).as("rows of %s", name).hasSize(1);
    return rows.getFirst();
  }

  @ParameterizedTest
  @MethodSource("threats")
  void every_threat_has_a_control_and_an_attack(String name) {
    var row = row(name);

    assertThat(TEST.matcher(row).find()).as("a test of %s", name).isTrue();
    if (name.startsWith("ASI")) {
      assertThat(CONTROL.matcher(row).find()).as("a control of %s", name).isTrue();
    }
  }

  @Test
  void every_test_that_is_named_exists_and_runs() throws IOException {
    var wrong = new ArrayList<String>();
    var tests = TEST.matcher(GUIDE.text()).results().toList();
    assertThat(tests).hasSizeGreaterThan(20);
    for (var test : tests) {
      var path = GUIDE.path().resolveSibling(test.group(3)).normalize();
      assertThat(path).exists();
      assertThat(path.getFileName()).hasToString(test.group(1) + ".java");
      var method = test.group(2);
      if (method != null && !runs(Files.readAllLines(path), method)) {
        wrong.add(test.group());
      }
    }
    assertThat(wrong).isEmpty();
  }

  /// True if the method exists and has an annotation with which it is run in `./check`.
  private static boolean runs(List<String> lines, String method) {
    for (var i = 0; i < lines.size(); i++) {
      if (lines.get(i).contains(" void " + method + "(")) {
        return lines.subList(Math.max(0, i - 20), i).stream()
            .anyMatch(line -> line.matches("\\s*@(?:Test|ParameterizedTest|RepeatedTest).*"));
      }
    }
    return false;
  }
}
