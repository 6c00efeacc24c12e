package dev.parley.control;

import dev.parley.control.ControlStorage.ControlChange;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RuleView;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The rules that people created with "always allow". They survive a restart and a takeover.
/// Thread-safe: the monitor guards changes, and readers see an immutable list.
public final class ApprovalRules {

  private static final String KIND = "rule";
  private static final int RULES_MAX = 1_000;

  private final ControlStorage storage;
  private volatile List<RuleView> rules;

  /// A call that needs approval. `hash` binds it to the tool and the arguments.
  public record RuledCall(String owner, ContextId context, AgentTypeId agent, String hash) {}

  /// Reads the stored rules.
  ///
  /// @throws Rejection.Unavailable if they cannot be read
  public ApprovalRules(ControlStorage storage) {
    this.storage = storage;
    this.rules =
        storage.load(KIND).values().stream()
            .map(data -> Json.read(data.getBytes(StandardCharsets.UTF_8), RuleView.class))
            .sorted(Comparator.comparing(RuleView::createdAt).thenComparing(RuleView::id))
            .toList();
  }

  /// The rules that have not expired, oldest first.
  public List<RuleView> active(Instant now) {
    return rules.stream().filter(rule -> rule.expiresAt().isAfter(now)).toList();
  }

  /// The rule that allows a call, if there is one.
  public Optional<RuleView> find(RuledCall call, Instant now) {
    var all = rules;
    return all.isEmpty()
        ? Optional.empty()
        : all.stream()
            .filter(rule -> rule.hash().equals(call.hash()) && rule.owner().equals(call.owner()))
            .filter(rule -> rule.contextId() == null || rule.contextId().equals(call.context()))
            .filter(rule -> rule.agentId() == null || rule.agentId().equals(call.agent()))
            .filter(rule -> rule.expiresAt().isAfter(now))
            .findFirst();
  }

  /// Rejects a new rule if there are too many.
  ///
  /// @throws Rejection.Busy `too-many-rules`
  public void checkRoom(Instant now) {
    if (active(now).size() >= RULES_MAX) {
      throw new Rejection.Busy(
          "too-many-rules", "there are " + RULES_MAX + " approval rules; revoke some");
    }
  }

  /// Stores a rule, and removes those that have expired. It is durable when this returns.
  public synchronized void add(RuleView rule) {
    var kept = active(rule.createdAt());
    var changes = new ArrayList<ControlChange>();
    rules.stream()
        .filter(old -> !kept.contains(old))
        .forEach(old -> changes.add(new ControlChange(KIND, old.id(), null)));
    changes.add(
        new ControlChange(KIND, rule.id(), new String(Json.bytes(rule), StandardCharsets.UTF_8)));
    storage.write(changes);
    rules = Stream.concat(kept.stream(), Stream.of(rule)).toList();
  }

  /// Removes a rule. It no longer allows calls when this returns.
  public synchronized void revoke(RuleView rule) {
    storage.write(List.of(new ControlChange(KIND, rule.id(), null)));
    rules = rules.stream().filter(other -> !other.id().equals(rule.id())).toList();
  }
}
