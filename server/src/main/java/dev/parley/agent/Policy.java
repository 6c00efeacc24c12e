package dev.parley.agent;

import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Permission;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Which calls an agent may make, which need a person's word, and which it may not make.
///
/// A rule names a tool, `*` standing for anything, and may name what its first text argument must look
/// like: `shell(git status)`. `deny` goes before `ask`, `ask` before `allow`; where no rule fits, the
/// standard permission holds, or the tool's own if there is none.
public record Policy(
    @Nullable Permission standard, List<String> allow, List<String> ask, List<String> deny) {

  /// Every tool's own permission.
  public static final Policy USUAL = new Policy(null, List.of(), List.of(), List.of());

  /// What could make one command into several: a pattern with `*` never allows it.
  private static final Pattern SEVERAL = Pattern.compile("[;&|`$<>()\\n\\r\\\\]");

  public Policy {
    allow = List.copyOf(allow);
    ask = List.copyOf(ask);
    deny = List.copyOf(deny);
  }

  /// What this policy says of a call.
  Permission of(Tool tool, ObjectNode arguments) {
    var argument = firstText(arguments);
    if (deny.stream().anyMatch(rule -> fits(rule, tool.name(), argument, false))) {
      return Permission.DENY;
    }
    if (ask.stream().anyMatch(rule -> fits(rule, tool.name(), argument, false))) {
      return Permission.ASK;
    }
    if (allow.stream().anyMatch(rule -> fits(rule, tool.name(), argument, true))) {
      return Permission.ALLOW;
    }
    return standard == null ? tool.permission() : standard;
  }

  private static String firstText(ObjectNode arguments) {
    return arguments
        .valueStream()
        .filter(value -> value.isString())
        .findFirst()
        .map(value -> value.asString())
        .orElse("");
  }

  private static boolean fits(String rule, String tool, String argument, boolean careful) {
    var bracket = rule.indexOf('(');
    if (bracket < 0 || !rule.endsWith(")")) {
      return glob(rule).matcher(tool).matches();
    }
    var wanted = rule.substring(bracket + 1, rule.length() - 1);
    return glob(rule.substring(0, bracket)).matcher(tool).matches()
        && (wanted.equals(argument)
            || (glob(wanted).matcher(argument).matches()
                && !(careful && SEVERAL.matcher(argument).find())));
  }

  private static Pattern glob(String pattern) {
    var regex = new StringBuilder();
    for (var i = 0; i < pattern.length(); i++) {
      var letter = pattern.charAt(i);
      regex.append(letter == '*' ? ".*" : Pattern.quote(String.valueOf(letter)));
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }
}
