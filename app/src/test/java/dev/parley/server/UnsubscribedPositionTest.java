package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.WebSocketTestClient;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Where a reader stands who no longer follows a context.
class UnsubscribedPositionTest {

  @TempDir Path folder;

  @Test
  void everything_was_told_up_to_the_position_at_which_it_ended() throws Exception {
    try (var testServer = TestServer.open(folder, TestServer.Wish.USUAL);
        var socket = new WebSocketTestClient(testServer.url.getPort(), "/api/ws")) {
      var context = testServer.context("c");
      for (var i = 0; i < 500; i++) {
        testServer.append(context, new StateUpdated(Json.object().put("n", i)));
      }
      for (var i = 0; i < 30; i++) {
        socket.send("{\"type\":\"subscribe\",\"contextId\":\"c\"}");
        socket.send("{\"type\":\"unsubscribe\",\"contextId\":\"c\"}");
        var told = new ArrayList<JsonNode>();
        do {
          told.add(socket.json());
        } while (!told.getLast().path("type").asString().equals("unsubscribed"));
        assertThat(told.removeLast().path("position")).isEqualTo(told.getLast().path("position"));
      }
    }
  }
}
