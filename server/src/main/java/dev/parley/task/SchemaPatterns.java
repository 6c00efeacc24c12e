package dev.parley.task;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import com.networknt.schema.regex.RegularExpression;
import com.networknt.schema.regex.RegularExpressionFactory;
import dev.parley.protocol.Rejection;
import java.util.ArrayDeque;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The regular expressions of JSON schemas that models, tools and servers send: `pattern` and
/// `patternProperties`. They run in linear time (RE2), within a budget of steps for each check.
///
/// [#check] rejects questions whose patterns are too large or are not supported by RE2, above all
/// look-around and back-references. In questions that were stored before that check existed, such
/// patterns accept any text.
public final class SchemaPatterns implements RegularExpressionFactory {

  /// The maximum length of a pattern.
  static final int LENGTH_MAX = 1_000;

  /// The maximum number of instructions of a pattern, with its repetitions expanded.
  private static final int SIZE_MAX = 5_000;

  /// The maximum number of instructions times characters in one check: well under a second.
  private static final long STEPS_MAX = 50_000_000;

  private static final int DEPTH_MAX = 200;

  /// These keywords contain values, not schemas.
  private static final Set<String> VALUES =
      Set.of("const", "default", "enum", "example", "examples");

  private final boolean strict;
  private long steps = STEPS_MAX;

  /// For one check. `strict` rejects patterns that are not supported; otherwise they accept any
  /// text.
  SchemaPatterns(boolean strict) {
    this.strict = strict;
  }

  /// Rejects a schema with a pattern that cannot be checked.
  ///
  /// @throws Rejection.Invalid with the reason
  public static void check(@Nullable JsonNode schema) {
    if (schema != null) {
      check(schema, 0);
    }
  }

  private static void check(JsonNode schema, int depth) {
    if (depth > DEPTH_MAX) {
      throw new Rejection.Invalid(
          "invalid-schema", "a schema may be at most " + DEPTH_MAX + " levels deep");
    }
    if (schema.isObject() && schema.path("pattern").isString()) {
      compile(schema.path("pattern").asString());
    }
    if (schema.path("patternProperties").isObject()) {
      schema.path("patternProperties").propertyNames().forEach(SchemaPatterns::compile);
    }
    if (schema.isObject()) {
      schema
          .properties()
          .forEach(
              property -> {
                if (!VALUES.contains(property.getKey())) {
                  check(property.getValue(), depth + 1);
                }
              });
    } else if (schema.isArray()) {
      schema.forEach(item -> check(item, depth + 1));
    }
  }

  @Override
  public RegularExpression getRegularExpression(String regex) {
    Pattern pattern;
    try {
      pattern = compile(regex);
    } catch (Rejection.Invalid unsupported) {
      if (strict) {
        throw unsupported;
      }
      return _ -> true;
    }
    var size = pattern.programSize();
    return text -> {
      steps -= (long) size * (text.length() + 1);
      if (steps < 0) {
        throw new Rejection.Invalid(
            "invalid-answer", "the answer is too long to be checked against its schema's patterns");
      }
      return pattern.matcher(text).find();
    };
  }

  private static Pattern compile(String regex) {
    if (regex.length() > LENGTH_MAX) {
      throw unusable(regex, "it has more than " + LENGTH_MAX + " characters");
    }
    if (size(regex) > SIZE_MAX) {
      throw unusable(regex, "its repetitions are too large");
    }
    try {
      return Pattern.compile(unicodeEscapes(regex));
    } catch (PatternSyntaxException unsupported) {
      throw unusable(
          regex,
          unsupported.getDescription()
              + " "
              + unsupported.getPattern()
              + ". Look-around, back-references and possessive repetitions are not supported");
    }
  }

  private static Rejection.Invalid unusable(String regex, String reason) {
    var shown = regex.length() <= 100 ? regex : regex.substring(0, 100) + "…";
    return new Rejection.Invalid(
        "invalid-schema", "the pattern " + shown + " cannot be used: " + reason);
  }

  /// JSON Schema writes `\\u0041` where RE2 has `\\x{0041}`.
  private static String unicodeEscapes(String regex) {
    var text = new StringBuilder();
    for (var i = 0; i < regex.length(); i++) {
      if (regex.startsWith("\\u", i) && hexadecimal(regex, i + 2)) {
        text.append("\\x{").append(regex, i + 2, i + 6).append('}');
        i += 5;
      } else {
        text.append(regex.charAt(i));
        if (regex.charAt(i) == '\\' && i + 1 < regex.length()) {
          text.append(regex.charAt(++i));
        }
      }
    }
    return text.toString();
  }

  private static boolean hexadecimal(String regex, int from) {
    return from + 4 <= regex.length()
        && regex.substring(from, from + 4).chars().allMatch(c -> Character.digit(c, 16) >= 0);
  }

  /// The approximate number of instructions of a pattern: RE2 expands `(a{100}){100}`, and would
  /// run out of memory before it notices. More than [#SIZE_MAX] if the pattern cannot be parsed.
  private static long size(String regex) {
    var outer = new ArrayDeque<Long>();
    var sum = 0L;
    var last = 0L;
    for (var i = 0; i < regex.length(); i++) {
      switch (regex.charAt(i)) {
        case '\\' -> {
          if (regex.startsWith("\\Q", i)) {
            return Long.MAX_VALUE;
          }
          i = afterEscape(regex, i);
          last = 1;
          sum++;
        }
        case '[' -> {
          i = endOfClass(regex, i);
          if (i < 0) {
            return Long.MAX_VALUE;
          }
          last = 1;
          sum++;
        }
        case '(' -> {
          outer.push(sum);
          sum = 2;
        }
        case ')' -> {
          if (outer.isEmpty()) {
            return Long.MAX_VALUE;
          }
          last = sum;
          sum += outer.pop();
        }
        case '{' -> {
          var times = times(regex, i);
          sum += last * times;
          last *= times + 1;
        }
        default -> {
          last = 1;
          sum++;
        }
      }
      if (sum > SIZE_MAX) {
        return sum;
      }
    }
    return outer.isEmpty() ? sum : Long.MAX_VALUE;
  }

  private static int afterEscape(String regex, int backslash) {
    var braces = regex.startsWith("{", backslash + 2);
    var end = braces ? regex.indexOf('}', backslash) : -1;
    // After letters such as p and x the braces hold an argument; after others they repeat.
    var argument = braces && "pPx".indexOf(regex.charAt(backslash + 1)) >= 0;
    return argument && end > 0 ? end : backslash + 1;
  }

  /// The index of the bracket that closes a character class; negative if it cannot be determined.
  private static int endOfClass(String regex, int open) {
    var i = open + 1;
    if (regex.startsWith("^", i)) {
      i++;
    }
    // A bracket in the first position is a literal.
    if (regex.startsWith("]", i)) {
      i++;
    }
    for (; i < regex.length() && regex.charAt(i) != ']'; i++) {
      if (regex.startsWith("[:", i)) {
        return -1;
      }
      if (regex.charAt(i) == '\\') {
        i++;
      }
    }
    return i < regex.length() ? i : -1;
  }

  /// The larger number of `{2,5}`; zero if the braces are literal characters.
  private static long times(String regex, int open) {
    var most = 0L;
    var number = 0L;
    for (var i = open + 1; i < regex.length() && i < open + 12; i++) {
      var letter = regex.charAt(i);
      if (letter >= '0' && letter <= '9') {
        number = number * 10 + letter - '0';
      } else {
        most = Math.max(most, number);
        number = 0;
      }
      if (letter == '}') {
        return most;
      }
    }
    return most;
  }
}
