package dev.parley.api.contexts;

import dev.parley.log.ContextState;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.Rejection;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A new version of an artifact: `text` creates a file; `data` creates a file if it is a string in
/// base64, and a data record if it is an object. An `expectedVersion` of 0 or null means a new
/// artifact.
record NewArtifactVersion(
    @Nullable Integer expectedVersion,
    @Nullable JsonNode data,
    @Nullable String text,
    @Nullable String name,
    @Nullable String mimeType) {

  /// The event that writes the version, if the current version is the expected one.
  ArtifactEvent event(ArtifactId id, ContextState state, String principal) {
    var current = ArtifactRoutes.current(state, id);
    if (current != (expectedVersion == null ? 0 : expectedVersion)) {
      throw ArtifactRoutes.mismatch(current);
    }
    var event = event(id, state.nextVersion(id), principal);
    state
        .artifact(id)
        .ifPresent(
            head -> {
              if (!head.complete()) {
                throw new Rejection.Conflict(
                    "artifact-building", "the artifact is still being written");
              }
              if (head.kind() != event.kind()) {
                throw new Rejection.Conflict(
                    "artifact-kind", "the artifact was written by " + head.kind().wire());
              }
            });
    return event;
  }

  private ArtifactEvent event(ArtifactId id, int version, String principal) {
    if ((data == null) == (text == null)) {
      throw new Rejection.Invalid("either data or text is needed");
    }
    if (text != null) {
      return file(id, text, Encoding.UTF_8, version, principal);
    }
    if (data instanceof ObjectNode object) {
      return new DataWrite(id, name, null, object, null, version, principal);
    }
    if (data == null || !data.isString()) {
      throw new Rejection.Invalid("data must be an object, or a string in base64");
    }
    return file(id, base64(data.asString()), Encoding.BASE64, version, principal);
  }

  private ArtifactEvent file(
      ArtifactId id, String content, Encoding encoding, int version, String principal) {
    return new FileWrite(
        id, content, 0, true, name, null, mimeType, encoding, null, version, principal);
  }

  private static String base64(String text) {
    try {
      Base64.getDecoder().decode(text);
      return text;
    } catch (IllegalArgumentException malformed) {
      throw new Rejection.Invalid("data is not base64");
    }
  }
}
