package dev.parley.api.a2a.sessions;

import dev.parley.projection.ContextList.ListedContext;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextFacts;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A context as the sessions API shows it.
record KagentSession(
    String id,
    @Nullable String name,
    String user_id,
    Instant created_at,
    Instant updated_at,
    @Nullable String agent_id,
    @Nullable String source) {

  /// The source of sessions that an agent creates for itself; they are not listed.
  static final String BY_AGENT = "agent";

  static KagentSession of(ListedContext listed) {
    var context = listed.context();
    var agent = listed.agent();
    var user = metadataField(context, "userId");
    return new KagentSession(
        context.contextId().value(),
        context.title(),
        user == null ? context.owner() : user,
        context.createdAt(),
        context.updatedAt(),
        agent == null ? null : agent.value(),
        metadataField(context, "source"));
  }

  /// A field of the context's session metadata.
  static @Nullable String metadataField(ContextView context, String name) {
    return ContextFacts.of(context.metadata())
        .session()
        .flatMap(session -> session.path(name).asStringOpt())
        .orElse(null);
  }

  /// Returns the context's metadata with these session fields set. Null values leave a field
  /// unchanged.
  static @Nullable ObjectNode metadata(
      @Nullable ObjectNode before,
      @Nullable AgentTypeId agent,
      @Nullable String user,
      @Nullable String source) {
    var all = before == null ? Json.object() : before.deepCopy();
    var own = ContextFacts.of(all).session().orElseGet(Json::object);
    Json.putPresent(own, "agentId", agent == null ? null : agent.value());
    Json.putPresent(own, "userId", user);
    Json.putPresent(own, "source", source);
    if (!own.isEmpty()) {
      ContextFacts.putSession(all, own);
    }
    return all.isEmpty() ? null : all;
  }
}
