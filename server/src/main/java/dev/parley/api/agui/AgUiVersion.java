package dev.parley.api.agui;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A version of AG-UI.
///
/// The API creates all events in the newest version. [#adapt] converts an event to an older
/// version. One event stays one event, so frame ids are the same in all versions.
enum AgUiVersion {
  /// The 0.0.x packages. Their clients send no version, and reject unknown outcomes.
  V0("0.0"),
  V1_0("1.0"),
  V1_1("1.1");

  private static final Set<String> OUTCOMES_OF_V0 = Set.of("success", "interrupt");
  private static final String PENDING = "pendingToolCallIds";

  private final String wire;

  AgUiVersion(String wire) {
    this.wire = wire;
  }

  static AgUiVersion newest() {
    return V1_1;
  }

  /// The version to use for a client that declares this version.
  ///
  /// @param declared null if the client declares none
  /// @throws Rejection.Invalid if the version is not supported
  static AgUiVersion of(@Nullable String declared) {
    if (declared == null || declared.matches("0\\.\\d+(\\.\\d+)?")) {
      return V0;
    }
    if (!declared.matches("\\d+\\.\\d+") || declared.equals(V1_0.wire)) {
      // A client with an unreadable version gets the oldest version of 1.x.
      return V1_0;
    }
    if (declared.startsWith("1.")) {
      return newest();
    }
    throw new Rejection.Invalid(
        "unsupported-version",
        "this server supports AG-UI up to " + newest().wire + ", not " + declared);
  }

  String wire() {
    return wire;
  }

  /// Converts an event to this version. The given event is not changed.
  ObjectNode adapt(ObjectNode event) {
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

  /// An outcome that the old version does not have is moved to the metadata.
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
