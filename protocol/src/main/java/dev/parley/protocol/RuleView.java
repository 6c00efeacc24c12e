package dev.parley.protocol;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A rule that a person created by approving a tool call for the future: the same call, with exactly
/// these arguments, needs no approval in the contexts of the owner until the rule expires.
///
/// `contextId` is set if the rule applies to one context, `agentId` if it applies to one agent.
public record RuleView(
    String id,
    String owner,
    RuleScope scope,
    @Nullable ContextId contextId,
    @Nullable AgentTypeId agentId,
    String tool,
    ObjectNode arguments,
    String hash,
    Instant createdAt,
    Instant expiresAt) {

  /// Where a rule applies, among the contexts of its owner.
  public enum RuleScope implements WireName {
    CONTEXT,
    AGENT,
    EVERYWHERE
  }
}
