package dev.parley.agent;

import dev.parley.agent.CommandRules.RuleMatch;
import dev.parley.tool.Glob;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Permission;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Decides which tool calls are allowed, need approval, or are denied.
///
/// A rule names a tool, where `*` matches any text, and may have a pattern for the tool's first
/// text argument: `shell(git status)`. In `ask` and `deny`, the pattern applies to every text
/// argument. Command lines are compared word by word, see [CommandRules]. `deny` takes precedence
/// over `ask`, and `ask` over `allow`. If no rule matches, the standard permission applies, or else
/// the tool's own.
public record ToolPolicy(
    @Nullable Permission standard, List<String> allow, List<String> ask, List<String> deny) {

  /// No rules: every tool has its own permission.
  public static final ToolPolicy DEFAULT = new ToolPolicy(null, List.of(), List.of(), List.of());

  /// Characters that can turn one command into several: a pattern with `*` never allows them.
  private static final Pattern SHELL_OPERATORS = Pattern.compile("[;&|`$<>()\\n\\r\\\\]");

  public ToolPolicy {
    allow = List.copyOf(allow);
    ask = List.copyOf(ask);
    deny = List.copyOf(deny);
  }

  /// The policy for a task that names the tools that need no approval: all other calls need one, or
  /// stay denied. A tool that needs approval anyway still does.
  public ToolPolicy narrowedTo(List<String> tools) {
    var free = standard == Permission.ALLOW;
    var allowed =
        free
            ? tools
            : allow.stream()
                .flatMap(rule -> tools.stream().flatMap(tool -> narrower(rule, tool).stream()))
                .distinct()
                .toList();
    return new ToolPolicy(free ? Permission.ASK : standard, allowed, ask, deny);
  }

  /// The narrower of a rule and a tool of a task, if one of them contains the other.
  private static Optional<String> narrower(String rule, String tool) {
    if (tool.equals(rule) || tool.equals(toolOf(rule))) {
      return Optional.of(rule);
    }
    return inBrackets(rule) == null && glob(rule).matches(toolOf(tool))
        ? Optional.of(tool)
        : Optional.empty();
  }

  /// True if no call needs approval and none is denied.
  public boolean allowsEverything() {
    return standard == Permission.ALLOW && ask.isEmpty() && deny.isEmpty();
  }

  /// The permission for a call.
  Permission permissionFor(Tool tool, ObjectNode arguments) {
    return permissionFor(tool.name(), arguments, mainText(tool, arguments), tool.permission());
  }

  /// The permission for a call of a tool that is not Parley's own. `main` is the argument that a
  /// rule in brackets applies to, if it is known; `own` applies if no rule matches.
  public Permission permissionFor(
      String tool, ObjectNode arguments, @Nullable String main, Permission own) {
    var command = CommandRules.commandOf(tool, arguments, main).orElse(null);
    if (deny.stream().anyMatch(rule -> forbids(rule, tool, arguments))
        || forbids(deny, tool, command) == RuleMatch.YES) {
      return Permission.DENY;
    }
    if (ask.stream().anyMatch(rule -> forbids(rule, tool, arguments))
        || forbids(ask, tool, command) == RuleMatch.YES) {
      return Permission.ASK;
    }
    var permission = standard == null ? own : standard;
    if (allow.stream().anyMatch(rule -> allows(rule, tool, main, command))) {
      permission = Permission.ALLOW;
    }
    // A command that cannot be parsed may be a denied one.
    var unclear =
        permission == Permission.ALLOW
            && (forbids(deny, tool, command) == RuleMatch.UNCLEAR
                || forbids(ask, tool, command) == RuleMatch.UNCLEAR);
    return unclear ? Permission.ASK : permission;
  }

  /// How rules in brackets match the command line of a call, if it has one.
  private static RuleMatch forbids(List<String> rules, String tool, @Nullable String command) {
    var ruleMatch = RuleMatch.NO;
    for (var rule : rules) {
      var wanted = inBrackets(rule);
      if (command != null && wanted != null && couldMatch(toolOf(rule), tool)) {
        switch (CommandRules.forbids(wanted, command)) {
          case YES -> {
            return RuleMatch.YES;
          }
          case UNCLEAR -> ruleMatch = RuleMatch.UNCLEAR;
          case NO -> {}
        }
      }
    }
    return ruleMatch;
  }

  private static boolean allows(
      String rule, String tool, @Nullable String main, @Nullable String command) {
    var wanted = inBrackets(rule);
    if (wanted == null || command == null) {
      return matches(rule, tool, main, true);
    }
    return couldMatch(toolOf(rule), tool) && CommandRules.allows(wanted, command);
  }

  private static @Nullable String inBrackets(String rule) {
    var bracket = rule.indexOf('(');
    return bracket < 0 || !rule.endsWith(")")
        ? null
        : rule.substring(bracket + 1, rule.length() - 1);
  }

  /// The argument that a rule in brackets applies to: the first text property of the tool's schema,
  /// whatever the order in the call.
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

  /// A rule of `ask` or `deny` applies to every text argument.
  private static boolean forbids(String rule, String tool, ObjectNode arguments) {
    return matches(rule, tool, null, false)
        || texts(arguments).stream().anyMatch(text -> matches(rule, tool, text, false));
  }

  private static boolean matches(
      String rule, String tool, @Nullable String argument, boolean careful) {
    var bracket = rule.indexOf('(');
    if (bracket < 0 || !rule.endsWith(")")) {
      return glob(rule).matches(tool);
    }
    var wanted = rule.substring(bracket + 1, rule.length() - 1);
    return argument != null
        && glob(rule.substring(0, bracket)).matches(tool)
        && (wanted.equals(argument)
            || (glob(wanted).matches(argument)
                && !(careful && SHELL_OPERATORS.matcher(argument).find())));
  }

  /// All rules.
  public List<String> rules() {
    return Stream.of(deny, ask, allow).flatMap(List::stream).toList();
  }

  /// The tool pattern of a rule.
  public static String toolOf(String rule) {
    var bracket = rule.indexOf('(');
    return bracket < 0 || !rule.endsWith(")") ? rule : rule.substring(0, bracket);
  }

  /// True if the pattern matches the name of a tool or, if that ends in `*`, could match a name
  /// that begins with it.
  public static boolean couldMatch(String pattern, String tool) {
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
