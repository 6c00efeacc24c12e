package dev.parley.model;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One server-sent event of a model's stream.
record SseEvent(String name, String data) {

  private static final int SHOWN_MAX = 80;

  /// Parses the data as JSON.
  ///
  /// @throws ModelFailure if it is not a JSON object
  JsonNode json() throws ModelFailure {
    try {
      return Json.read(data.getBytes(StandardCharsets.UTF_8), ObjectNode.class);
    } catch (Rejection.Invalid broken) {
      throw ModelFailure.retryable(
          ErrorCode.MODEL_ERROR,
          "the model's server sent an event that is not JSON: "
              + ModelFailures.shown(data, SHOWN_MAX));
    }
  }
}
