package dev.parley.agent;

import dev.parley.agent.CommandRules.Fit;
import dev.parley.tool.Glob;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Permission;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Which calls an agent may make, which need a person's word, and which it may not make.
///
/// A rule names a tool, `*` standing for anything, and may name what its first text argument must look
/// like: `shell(git status)`; for `ask` and `deny`, what any text argument looks like. A command line is compared
/// word by word: see [CommandRules]. `deny` goes before `ask`, `ask` before `allow`; where no rule fits, the
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
    return of(tool.name(), arguments, mainText(tool, arguments), tool.permission());
  }

  /// What this policy says of a call of a tool that is not ours; `main` is the argument that a rule in
  /// brackets is about, if that is known, and `own` holds where no rule fits.
  public Permission of(String tool, ObjectNode arguments, @Nullable String main, Permission own) {
    var command = CommandRules.commandOf(tool, arguments, main).orElse(null);
    if (deny.stream().anyMatch(rule -> forbids(rule, tool, arguments))
        || forbids(deny, tool, command) == Fit.YES) {
      return Permission.DENY;
    }
    if (ask.stream().anyMatch(rule -> forbids(rule, tool, arguments))
        || forbids(ask, tool, command) == Fit.YES) {
      return Permission.ASK;
    }
    var permission = standard == null ? own : standard;
    if (allow.stream().anyMatch(rule -> allows(rule, tool, main, command))) {
      permission = Permission.ALLOW;
    }
    // What cannot be read may be what is forbidden.
    var unclear =
        permission == Permission.ALLOW
            && (forbids(deny, tool, command) == Fit.UNCLEAR
                || forbids(ask, tool, command) == Fit.UNCLEAR);
    return unclear ? Permission.ASK : permission;
  }

  /// How rules in brackets fit the command line of a call, if it has one.
  private static Fit forbids(List<String> rules, String tool, @Nullable String command) {
    var fit = Fit.NO;
    for (var rule : rules) {
      var wanted = inBrackets(rule);
      if (command != null && wanted != null && couldFit(toolOf(rule), tool)) {
        switch (CommandRules.forbids(wanted, command)) {
          case YES -> {
            return Fit.YES;
          }
          case UNCLEAR -> fit = Fit.UNCLEAR;
          case NO -> {}
        }
      }
    }
    return fit;
  }

  private static boolean allows(
      String rule, String tool, @Nullable String main, @Nullable String command) {
    var wanted = inBrackets(rule);
    if (wanted == null || command == null) {
      return fits(rule, tool, main, true);
    }
    return couldFit(toolOf(rule), tool) && CommandRules.allows(wanted, command);
  }

  private static @Nullable String inBrackets(String rule) {
    var bracket = rule.indexOf('(');
    return bracket < 0 || !rule.endsWith(")")
        ? null
        : rule.substring(bracket + 1, rule.length() - 1);
  }

  /// The argument that a rule in brackets is about: the first text in the tool's own list, whatever the
  /// order in which the model wrote them.
  private static @Nullable String mainText(Tool tool, ObjectNode arguments) {
    for (var property : tool.schema().path("properties").properties()) {
      if (property.getValue().path("type").asString("").equals("string")) {
        var value = arguments.path(property.getKey());
        return value.isString() ? value.asString() : null;
      }
    }
    return null;
  }

  private static List<String> texts(ObjectNode arguments) {
    return arguments
        .valueStream()
        .filter(value -> value.isString())
        .map(value -> value.asString())
        .toList();
  }

  /// What is forbidden is forbidden in any of the arguments.
  private static boolean forbids(String rule, String tool, ObjectNode arguments) {
    return fits(rule, tool, null, false)
        || texts(arguments).stream().anyMatch(text -> fits(rule, tool, text, false));
  }

  private static boolean fits(
      String rule, String tool, @Nullable String argument, boolean careful) {
    var bracket = rule.indexOf('(');
    if (bracket < 0 || !rule.endsWith(")")) {
      return glob(rule).matches(tool);
    }
    var wanted = rule.substring(bracket + 1, rule.length() - 1);
    return argument != null
        && glob(rule.substring(0, bracket)).matches(tool)
        && (wanted.equals(argument)
            || (glob(wanted).matches(argument) && !(careful && SEVERAL.matcher(argument).find())));
  }

  /// All rules, whatever they say.
  public List<String> rules() {
    return Stream.of(deny, ask, allow).flatMap(List::stream).toList();
  }

  /// The pattern of the tool's name in a rule.
  public static String toolOf(String rule) {
    var bracket = rule.indexOf('(');
    return bracket < 0 || !rule.endsWith(")") ? rule : rule.substring(0, bracket);
  }

  /// True if the pattern fits the name of a tool, or, where that ends in `*`, of one that begins like it.
  public static boolean couldFit(String pattern, String tool) {
    if (!tool.endsWith("*")) {
      return glob(pattern).matches(tool);
    }
    var begin = tool.substring(0, tool.length() - 1);
    var star = pattern.indexOf('*');
    return pattern.startsWith(begin) || (star >= 0 && begin.startsWith(pattern.substring(0, star)));
  }

  private static Glob glob(String pattern) {
    return Glob.of(pattern);
  }
}
