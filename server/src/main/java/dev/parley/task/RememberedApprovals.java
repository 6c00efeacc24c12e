package dev.parley.task;

import dev.parley.control.ApprovalRules;
import dev.parley.log.ContextState;
import dev.parley.log.ContextState.OpenInput;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RuleView;
import dev.parley.protocol.RuleView.RuleScope;
import dev.parley.protocol.WireName;
import java.lang.System.Logger.Level;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// Creates the rules of approvals that a person wants to be remembered:
/// `{"approved": true, "remember": {"scope": "context", "expires": "2026-12-24T00:00:00Z"}}`.
final class RememberedApprovals {

  private static final System.Logger LOG = System.getLogger(RememberedApprovals.class.getName());
  private static final String REMEMBER = "remember";
  private static final Duration USUAL = Duration.ofDays(30);
  private static final Duration LONGEST = Duration.ofDays(365);

  private final EventLog log;
  private final ApprovalRules rules;
  private final TaskSources sources;

  RememberedApprovals(EventLog log, ApprovalRules rules, TaskSources sources) {
    this.log = log;
    this.rules = rules;
    this.sources = sources;
  }

  /// The rule that a valid answer asks for; empty if it asks for none.
  ///
  /// @throws Rejection.Invalid if such a rule is not possible
  /// @throws Rejection.Forbidden if the caller does not own the context
  Optional<RuleView> rule(ContextId context, OpenInput open, JsonNode value, Answerer by) {
    if (!value.has(REMEMBER)) {
      return Optional.empty();
    }
    var facts = open.required().facts();
    var call = facts.toolCall().orElse(null);
    var hash = facts.hash().orElse(null);
    var approval = facts.purpose().filter(QuestionPurpose.APPROVAL::equals).isPresent();
    if (!approval || call == null || call.toolName() == null || hash == null) {
      throw invalid("only the approval of a tool call can be remembered");
    }
    if (!value.path("approved").asBoolean(false) || value.has("arguments")) {
      throw invalid("only an approval without changed arguments can be remembered");
    }
    if (!by.principal().equals(log.owner(context))) {
      throw new Rejection.Forbidden(
          Answerer.NOT_ALLOWED,
          "only the owner of the context can always allow a call; approve it once instead");
    }
    var wanted = value.path(REMEMBER);
    var scope =
        WireName.find(RuleScope.class, wanted.path("scope").asString(""))
            .orElseThrow(
                () -> invalid("\"remember\" needs a \"scope\": context, agent or everywhere"));
    var now = sources.time().instant();
    rules.checkRoom(now);
    return Optional.of(
        new RuleView(
            sources.ids().get(),
            by.principal(),
            scope,
            scope == RuleScope.CONTEXT ? context : null,
            scope == RuleScope.AGENT
                ? log.inspect(context, state -> asker(state, open)).agentId()
                : null,
            call.toolName(),
            call.arguments(),
            hash,
            now,
            expiry(wanted.path("expires"), now)));
  }

  private static Origin asker(ContextState state, OpenInput open) {
    return state.openTask(open.task()).orElseThrow(QuestionTimers::notWanted).origin();
  }

  private static Instant expiry(JsonNode expires, Instant now) {
    if (expires.isMissingNode()) {
      return now.plus(USUAL);
    }
    try {
      var end = Instant.parse(expires.asString(""));
      if (end.isAfter(now) && !end.isAfter(now.plus(LONGEST))) {
        return end;
      }
    } catch (DateTimeException malformed) {
      // Rejected below, as any other invalid time.
    }
    throw invalid(
        "\"expires\" must be a time within the next 365 days, such as "
            + now.plus(USUAL).truncatedTo(ChronoUnit.SECONDS));
  }

  /// Stores the rules of answers that are durable. If the server stops before this, or the storage
  /// fails, the person is asked again.
  void store(List<RuleView> created) {
    for (var rule : created) {
      try {
        rules.add(rule);
        LOG.log(Level.INFO, "rule {0} was created by {1}", rule.id(), rule.owner());
      } catch (Rejection.Unavailable failed) {
        LOG.log(Level.WARNING, "an approval was not remembered: {0}", failed.getMessage());
      }
    }
  }

  private static Rejection invalid(String message) {
    return new Rejection.Invalid("invalid-answer", message);
  }
}
