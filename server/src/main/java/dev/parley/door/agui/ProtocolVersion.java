package dev.parley.door.agui;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A version of AG-UI that a caller speaks.
///
/// The door makes all events in the newest version. [#write] changes each event to what the caller's version
/// allows. One event stays one event, so the ids of frames are the same in all versions.
enum ProtocolVersion {
  /// The 0.0.x packages. Their clients send no version, and reject an outcome that they do not know.
  V0("0.0"),
  V1_0("1.0"),
  V1_1("1.1");

  private static final Set<String> OUTCOMES_OF_V0 = Set.of("success", "interrupt");
  private static final String PENDING = "pendingToolCallIds";

  private final String wire;

  ProtocolVersion(String wire) {
    this.wire = wire;
  }

  /// The newest version.
  static ProtocolVersion newest() {
    return V1_1;
  }

  /// The version to answer a caller in who declares this one.
  ///
  /// @param declared null if the caller declares none
  /// @throws Rejection.Invalid if it is a version that has no answer here
  static ProtocolVersion of(@Nullable String declared) {
    if (declared == null || declared.matches("0\\.\\d+(\\.\\d+)?")) {
      return V0;
    }
    if (!declared.matches("\\d+\\.\\d+") || declared.equals(V1_0.wire)) {
      // A client of 1.x that declares something unreadable is answered in the oldest of 1.x.
      return V1_0;
    }
    if (declared.startsWith("1.")) {
      return newest();
    }
    throw new Rejection.Invalid(
        "unsupported-version",
        "this server speaks AG-UI up to " + newest().wire + ", not " + declared);
  }

  String wire() {
    return wire;
  }

  /// An event as this version has it. The event itself is not changed.
  ObjectNode write(ObjectNode event) {
    if (AgUiEvent.RUN_STARTED.is(event)) {
      return started(event.deepCopy());
    }
    return this == V0 && AgUiEvent.RUN_FINISHED.is(event) ? finished(event) : event;
  }

  private ObjectNode started(ObjectNode event) {
    if (this != V0) {
      return event.put("protocolVersion", wire);
    }
    event.remove("protocolVersion");
    if (event.get("input") instanceof ObjectNode input) {
      input.putArray("tools");
      input.putArray("context");
    }
    return event;
  }

  /// What the old version has no outcome for is in the metadata.
  private static ObjectNode finished(ObjectNode event) {
    var outcome = event.path("outcome");
    var known = OUTCOMES_OF_V0.contains(outcome.path("type").asString(""));
    if (known && !outcome.has(PENDING)) {
      return event;
    }
    var older = event.deepCopy();
    if (known && older.get("outcome") instanceof ObjectNode kept) {
      kept.remove(PENDING);
    } else {
      older.remove("outcome");
    }
    var metadata = older.get("metadata") instanceof ObjectNode there ? there : Json.object();
    older.set("metadata", metadata);
    metadata.putObject("parley").set("outcome", outcome);
    return older;
  }
}
