package dev.parley.agent;

import dev.parley.agent.ShellLineParser.CandidateCommand;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Matches rules in brackets against command lines, word by word.
///
/// A rule of `allow` matches only one simple command of plain words. A rule of `ask` or `deny`
/// matches if any command that the line may run matches.
final class CommandRules {

  /// Tools that take a command line: Parley's own, and those of command-line agents.
  private static final Set<String> TOOLS =
      Set.of("shell", "Bash", "run_shell_command", "exec_command", "local_shell");

  /// How a rule of `ask` or `deny` matches.
  enum RuleMatch {
    YES,
    /// Part of the line cannot be parsed, and may match.
    UNCLEAR,
    NO
  }

  private CommandRules() {}

  /// The command line in a call, if it has one.
  static Optional<String> commandOf(String tool, ObjectNode arguments, @Nullable String main) {
    var command = arguments.path("command");
    if (command.isString()) {
      return Optional.of(command.asString());
    }
    return TOOLS.contains(tool) ? Optional.ofNullable(main) : Optional.empty();
  }

  /// True if a rule of `allow` with `wanted` in its brackets matches the line.
  static boolean allows(String wanted, String line) {
    if (wanted.indexOf('*') < 0 && wanted.equals(line)) {
      return true;
    }
    var rule = ShellLineParser.plainRule(wanted);
    var words = ShellLineParser.plain(line);
    return rule.isPresent() && words.isPresent() && allows(rule.get(), words.get());
  }

  private static boolean allows(List<String> rule, List<String> words) {
    var open = rule.getLast().equals("*");
    var fixed = open ? rule.size() - 1 : rule.size();
    if (rule.getFirst().indexOf('*') >= 0 || words.size() < fixed) {
      return false;
    }
    if (!open && words.size() != fixed) {
      return false;
    }
    var named = 0;
    for (var i = 0; i < fixed; i++) {
      var pattern = rule.get(i);
      var word = words.get(i);
      if (pattern.indexOf('*') < 0) {
        if (!pattern.equals(word)) {
          return false;
        }
        named += named == i ? 1 : 0;
      } else if (!matches(pattern, word)
          || (pattern.startsWith("*") && word.startsWith("-"))
          || hasParentSegment(word)) {
        return false;
      }
    }
    return named == words.size() || !RiskyCommands.exceedsRule(words, named);
  }

  private static boolean hasParentSegment(String word) {
    return Arrays.asList(word.split("/", -1)).contains("..");
  }

  /// How a rule of `ask` or `deny` with `wanted` in its brackets matches the line.
  static RuleMatch forbids(String wanted, String line) {
    var rule = List.of(wanted.strip().split("\\s+", -1));
    var all = ShellLineParser.candidates(line);
    var unclear = all.opaque();
    for (var command : all.commands()) {
      if (covers(rule, command) || coversAfterOptions(rule, command)) {
        return RuleMatch.YES;
      }
      // The shell itself evaluates such a subscript: test -v 'a[$(rm x)]'.
      unclear |=
          command.words().stream()
              .anyMatch(word -> RiskyCommands.evaluates(command.program(), word));
      unclear |=
          !command.programClear()
              || (!command.clear()
                  && matches(ShellLineParser.base(rule.getFirst()), command.program()));
    }
    return unclear ? RuleMatch.UNCLEAR : RuleMatch.NO;
  }

  /// The same with options before the sub-command: `git -C folder push` matches `git push *`.
  private static boolean coversAfterOptions(List<String> rule, CandidateCommand command) {
    var words = command.words();
    if (rule.size() < 2 || rule.get(1).startsWith("-") || rule.get(1).equals("*")) {
      return false;
    }
    for (var i = 2; i < Math.min(words.size(), 64) && words.get(1).startsWith("-"); i++) {
      var rest = new java.util.ArrayList<>(words.subList(i, words.size()));
      rest.addFirst(words.getFirst());
      if (covers(rule, new CandidateCommand(rest, command.programClear(), command.clear()))) {
        return true;
      }
    }
    return false;
  }

  /// The last word of a rule may end in `*`, which also matches further words.
  private static boolean covers(List<String> rule, CandidateCommand command) {
    var words = command.words();
    for (var i = 0; i < rule.size(); i++) {
      var pattern = rule.get(i);
      var last = i == rule.size() - 1;
      if (i == words.size()) {
        return last && pattern.equals("*");
      }
      var fits =
          matches(pattern, words.get(i))
              || (i == 0 && matches(ShellLineParser.base(pattern), command.program()));
      if (!fits) {
        return false;
      }
      if (last && pattern.endsWith("*")) {
        return true;
      }
    }
    return words.size() == rule.size();
  }

  /// True if the text matches the pattern, in which `*` matches any text.
  private static boolean matches(String pattern, String text) {
    var p = 0;
    var star = -1;
    var from = 0;
    for (var t = 0; t < text.length(); ) {
      if (p < pattern.length() && pattern.charAt(p) == '*') {
        star = p++;
        from = t;
      } else if (p < pattern.length() && pattern.charAt(p) == text.charAt(t)) {
        p++;
        t++;
      } else if (star >= 0) {
        p = star + 1;
        t = ++from;
      } else {
        return false;
      }
    }
    while (p < pattern.length() && pattern.charAt(p) == '*') {
      p++;
    }
    return p == pattern.length();
  }
}
