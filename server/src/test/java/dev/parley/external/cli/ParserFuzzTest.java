package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ParserFuzzTest {

  private static final int ROUNDS = 40;
  private static final String[] SPLICES = {
    "null", "[]", "{}", "\"\"", "-1", "1e999", "true", "\u0000", "\u001b[", "}", "\ud800"
  };

  static Stream<String> fixtures() {
    return CliFixtures.ALL.keySet().stream().sorted();
  }

  @ParameterizedTest
  @MethodSource("fixtures")
  void a_line_cut_anywhere_is_no_trouble(String name) {
    for (var line : CliFixtures.lines(name)) {
      for (var length = 0; length < line.length(); length += 1 + line.length() / 60) {
        check(name, List.of(line.substring(0, length), line.substring(length), line));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("fixtures")
  void lines_with_values_of_other_kinds_are_no_trouble(String name) {
    var random = new Random(7);
    for (var round = 0; round < ROUNDS; round++) {
      var lines = new ArrayList<String>();
      for (var line : CliFixtures.lines(name)) {
        lines.add(spliced(line, random));
      }
      check(name, lines);
    }
  }

  /// Replaces a value by another one, so that the line often remains valid JSON.
  private static String spliced(String line, Random random) {
    var colons = new ArrayList<Integer>();
    for (var at = line.indexOf("\":"); at >= 0; at = line.indexOf("\":", at + 1)) {
      colons.add(at + 2);
    }
    var from = colons.get(random.nextInt(colons.size()));
    var to = line.indexOf(",\"", from);
    var rest = to < 0 ? line.length() - 1 : to;
    return line.substring(0, from)
        + SPLICES[random.nextInt(SPLICES.length)]
        + line.substring(Math.max(from, rest));
  }

  @ParameterizedTest
  @MethodSource("fixtures")
  void lines_with_flipped_bytes_and_in_any_order_are_no_trouble(String name) {
    var random = new Random(11);
    var lines = CliFixtures.lines(name);
    for (var round = 0; round < ROUNDS; round++) {
      var changed = new ArrayList<String>();
      for (var i = 0; i < lines.size(); i++) {
        var bytes = lines.get(random.nextInt(lines.size())).getBytes(StandardCharsets.UTF_8);
        for (var flips = random.nextInt(4); flips > 0; flips--) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        changed.add(new String(bytes, StandardCharsets.UTF_8));
      }
      check(name, changed);
    }
  }

  @ParameterizedTest
  @MethodSource("fixtures")
  void random_bytes_and_deep_nesting_are_no_trouble(String name) {
    var random = new Random(13);
    var lines = new ArrayList<String>();
    for (var round = 0; round < ROUNDS; round++) {
      var bytes = new byte[random.nextInt(200)];
      random.nextBytes(bytes);
      lines.add(new String(bytes, StandardCharsets.UTF_8));
      lines.add("{" + new String(bytes, StandardCharsets.ISO_8859_1));
    }
    lines.add("{\"type\":".repeat(100_000));
    lines.add("{\"type\":\"assistant\",\"message\":{\"content\":" + "[".repeat(5_000));
    lines.add("{\"type\":\"result\",\"total_cost_usd\":" + "9".repeat(5_000) + "}");
    check(name, lines);
  }

  private static void check(String name, List<String> lines) {
    assertThatCode(() -> CliFixtures.read(CliFixtures.ALL.get(name).get(), lines))
        .doesNotThrowAnyException();
    assertThatCode(() -> CliFixtures.read(new MappedParser(LineMapping.DEFAULT), lines))
        .doesNotThrowAnyException();
  }
}
