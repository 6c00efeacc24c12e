package dev.parley.door.a2a.sessions;

import dev.parley.door.Descriptions;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.view.ContextView;
import dev.parley.view.Listing.Listed;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A context as the sessions API shows it.
record Session(
    String id,
    @Nullable String name,
    String user_id,
    Instant created_at,
    Instant updated_at,
    @Nullable String agent_id,
    @Nullable String source) {

  /// The source of sessions that an agent creates for itself; they are not listed.
  static final String BY_AGENT = "agent";

  static Session of(Listed listed) {
    var context = listed.context();
    var agent = listed.agent();
    var user = own(context, "userId");
    return new Session(
        context.contextId().value(),
        context.title(),
        user == null ? context.owner() : user,
        context.createdAt(),
        context.updatedAt(),
        agent == null ? null : agent.value(),
        own(context, "source"));
  }

  /// A field of the context's session metadata.
  static @Nullable String own(ContextView context, String name) {
    var metadata = context.metadata();
    return metadata == null
        ? null
        : metadata.path(Descriptions.SESSION).path(name).asStringOpt().orElse(null);
  }

  /// Returns the context's metadata with these session fields set. Null values leave a field
  /// unchanged.
  static @Nullable ObjectNode metadata(
      @Nullable ObjectNode before,
      @Nullable AgentTypeId agent,
      @Nullable String user,
      @Nullable String source) {
    var all = before == null ? Json.object() : before.deepCopy();
    var own = all.path(Descriptions.SESSION) instanceof ObjectNode known ? known : Json.object();
    put(own, "agentId", agent == null ? null : agent.value());
    put(own, "userId", user);
    put(own, "source", source);
    if (!own.isEmpty()) {
      all.set(Descriptions.SESSION, own);
    }
    return all.isEmpty() ? null : all;
  }

  private static void put(ObjectNode own, String name, @Nullable String value) {
    if (value != null) {
      own.put(name, value);
    }
  }
}
