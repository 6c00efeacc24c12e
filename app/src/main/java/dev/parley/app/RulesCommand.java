package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.RuleView;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley rules`.
@Command(
    name = "rules",
    mixinStandardHelpOptions = true,
    description = {
      "Lists your rules that allow tool calls without approval, and revokes one.",
      "parley answer --always creates a rule. Operators see the rules of all."
    },
    footer = {
      "",
      "Examples:",
      "  parley rules",
      "  parley rules revoke 3f2a        the rule whose id begins with 3f2a"
    })
final class RulesCommand extends ServerCommand {

  private static final int CALL_MAX = 70;
  private static final int TEXT_MAX = 40;
  private static final int ID_MIN = 4;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "revoke",
      description = "Revokes the rule ID: its calls need approval again.")
  private @Nullable String action;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "ID",
      description = "The id of the rule, or the first 4 or more characters of it.")
  private @Nullable String rule;

  RulesCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    if (action != null && !action.equals("revoke")) {
      throw new CommandExit(
          CommandExit.USAGE, "Unknown action " + action + "; the only one is: revoke ID");
    }
    if (action != null && (rule == null || rule.length() < ID_MIN)) {
      throw new CommandExit(
          CommandExit.USAGE,
          "Name the rule with at least 4 characters of its id: parley rules revoke ID (see parley"
              + " rules)");
    }
  }

  @Override
  void run(ParleyClient client) {
    var rules = client.rules();
    if (rule != null) {
      terminal.out().println("Revoked: " + client.revokeRule(find(rules, rule).id()).id());
    } else if (json) {
      printJson(rules);
    } else if (rules.isEmpty()) {
      terminal.err().println("There are no rules.");
    } else {
      table(rules).print(terminal.out(), terminal.outStyle());
    }
  }

  /// The rule whose id begins with `start`.
  ///
  /// @throws CommandExit if there is none, or more than one
  static RuleView find(List<RuleView> rules, String start) {
    var found = rules.stream().filter(other -> other.id().startsWith(start)).toList();
    if (found.size() != 1) {
      throw new CommandExit(
          CommandExit.FAILED,
          found.isEmpty()
              ? "There is no rule " + start + ". See: parley rules"
              : found.size() + " rules begin with " + start + "; give more characters.");
    }
    return found.getFirst();
  }

  static AlignedTable table(List<RuleView> rules) {
    var table = new AlignedTable("RULE", "OWNER", "WHERE", "EXPIRES", "CALL");
    for (var rule : rules) {
      table.row(
          TextSanitizer.line(rule.id(), TEXT_MAX),
          TextSanitizer.line(rule.owner(), TEXT_MAX),
          where(rule),
          AlignedTable.time(rule.expiresAt()),
          TextSanitizer.line(rule.tool() + " " + rule.arguments(), CALL_MAX));
    }
    return table;
  }

  private static String where(RuleView rule) {
    return switch (rule.scope()) {
      case CONTEXT -> "context " + TextSanitizer.line(String.valueOf(rule.contextId()), TEXT_MAX);
      case AGENT -> "agent " + TextSanitizer.line(String.valueOf(rule.agentId()), TEXT_MAX);
      case EVERYWHERE -> "everywhere";
    };
  }
}
