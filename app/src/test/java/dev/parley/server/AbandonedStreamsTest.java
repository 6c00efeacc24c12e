package dev.parley.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Readers that go away without a word.
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class AbandonedStreamsTest {

  private static final int MANY = 1_000;
  private static final String REQUEST =
      "GET /api/contexts/c/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";

  @TempDir Path folder;

  @Test
  void a_thousand_streams_that_their_readers_abandon_leave_nothing_behind() throws IOException {
    try (var testServer =
        TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ofMillis(100)))) {
      testServer.context("c");
      var sockets = new ArrayList<Socket>();
      for (var i = 0; i < MANY; i++) {
        sockets.add(testServer.connect());
        sockets.getLast().getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
      }
      testServer.awaitStreams(MANY);
      for (var socket : sockets) {
        socket.close();
      }
      testServer.awaitStreams(0);
    }
  }

  @Test
  void a_reader_who_leaves_is_noticed_also_without_heartbeats() throws IOException {
    try (var testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ZERO))) {
      testServer.context("c");
      try (var socket = testServer.connect()) {
        socket.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
        testServer.awaitStreams(1);
      }
      testServer.awaitStreams(0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/chat/stream", "/chat/stream?conversationId=later"})
  void also_one_who_follows_all_conversations_or_one_to_come(String path) throws IOException {
    try (var testServer =
        TestServer.durable(folder, TestServer.Wish.USUAL.heartbeat(Duration.ZERO))) {
      try (var socket = testServer.connect()) {
        var request = REQUEST.replace("/api/contexts/c/stream", path);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        testServer.awaitStreams(1);
      }
      testServer.awaitStreams(0);
    }
  }

  @Test
  void a_reader_who_has_nothing_more_to_say_goes_on_reading() throws IOException {
    try (var testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ZERO))) {
      var context = testServer.context("c");
      try (var socket = testServer.connect()) {
        socket.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
        socket.shutdownOutput();
        var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        awaitLine(lines, ": heartbeat");
        awaitLine(lines, ": heartbeat");
        testServer.append(context, new ContextUpdated("later", null));
        awaitLine(lines, "event: context-updated");
      }
    }
  }

  /// A request that is answered when its task has ended, which takes hours.
  private static byte[] blocking(TestServer testServer, String version) {
    var peer = new A2aTestClient(testServer, "agent-code", version);
    var body = A2aTestClient.request(peer.sending(), peer.say("m", "count slowly to 99999"));
    var head =
        "POST "
            + peer.path
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nA2A-Version: "
            + version
            + "\r\nContent-Length: "
            + body.length();
    return (head + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII);
  }

  private static JsonNode onlyTask(TestServer testServer) {
    var tasks =
        new A2aTestClient(testServer, "agent-code", "1.0").result("ListTasks", Json.object());
    assertThat(tasks.path("tasks")).hasSize(1);
    return tasks.path("tasks").get(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_caller_who_hangs_up_before_the_answer_is_noticed_and_the_task_goes_on(String version)
      throws IOException {
    try (var testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ZERO))) {
      try (var socket = testServer.connect()) {
        socket.getOutputStream().write(blocking(testServer, version));
        testServer.awaitStreams(1);
      }
      testServer.awaitStreams(0);

      var task = onlyTask(testServer);
      assertThat(task.path("status").path("state").asString())
          .isIn("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING");
      // The server would wait for it when it stops.
      new A2aTestClient(testServer, "agent-code", "1.0")
          .result("CancelTask", A2aTestClient.id(task.path("id").asString()));
    }
  }

  @Test
  void a_caller_who_has_nothing_more_to_say_is_answered() throws IOException {
    try (var testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ZERO))) {
      try (var socket = testServer.connect()) {
        socket.getOutputStream().write(blocking(testServer, "1.0"));
        testServer.awaitStreams(1);
        socket.shutdownOutput();
        var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        awaitLine(lines, "HTTP/1.1 102 Processing");
        awaitLine(lines, "HTTP/1.1 102 Processing");
        var task = onlyTask(testServer).path("id").asString();
        new A2aTestClient(testServer, "agent-code", "1.0")
            .result("CancelTask", A2aTestClient.id(task));
        awaitLine(lines, "HTTP/1.1 200 OK");
        awaitLine(lines, "");
        assertThat(lines.readLine()).contains(task, "TASK_STATE_CANCELED");
      }
    }
  }

  private static void awaitLine(BufferedReader lines, String wanted) throws IOException {
    for (var line = lines.readLine(); !wanted.equals(line); line = lines.readLine()) {
      assertThat(line).isNotNull();
    }
  }
}
