package dev.parley.protocol;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of a context says. The keys are known only here, and to the SQL of the views.
public final class ContextFacts {

  private static final String SESSION = "session";

  private final MetadataFields fields;

  private ContextFacts(@Nullable ObjectNode metadata) {
    fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a context.
  public static ContextFacts of(@Nullable ObjectNode metadata) {
    return new ContextFacts(metadata);
  }

  /// The fields that only the sessions API writes. Other clients cannot change them.
  public Optional<ObjectNode> session() {
    return fields.object(SESSION);
  }

  /// Sets the fields of the sessions API.
  public static void putSession(ObjectNode metadata, ObjectNode session) {
    metadata.set(SESSION, session);
  }

  /// The metadata `after`, with the fields of the sessions API as they are in `before`.
  public static ObjectNode withSessionOf(@Nullable ObjectNode before, ObjectNode after) {
    var metadata = after.deepCopy();
    metadata.remove(SESSION);
    if (before != null && before.has(SESSION)) {
      metadata.set(SESSION, before.path(SESSION));
    }
    return metadata;
  }
}
