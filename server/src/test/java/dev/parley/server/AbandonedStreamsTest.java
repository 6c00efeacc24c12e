package dev.parley.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextEvent.ContextUpdated;
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

/// Readers that go away without a word.
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class AbandonedStreamsTest {

  private static final int MANY = 1_000;
  private static final String REQUEST =
      "GET /api/contexts/c/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";

  @TempDir Path folder;

  @Test
  void a_thousand_streams_that_their_readers_abandon_leave_nothing_behind() throws IOException {
    try (var site = Site.open(folder, Site.Wish.USUAL.heartbeat(Duration.ofMillis(100)))) {
      site.context("c");
      var sockets = new ArrayList<Socket>();
      for (var i = 0; i < MANY; i++) {
        sockets.add(site.connect());
        sockets.getLast().getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
      }
      awaitStreams(site, MANY);
      for (var socket : sockets) {
        socket.close();
      }
      awaitStreams(site, 0);
    }
  }

  @Test
  void a_reader_who_leaves_is_noticed_also_without_heartbeats() throws IOException {
    try (var site = Site.open(folder, Site.Wish.USUAL.heartbeat(Duration.ZERO))) {
      site.context("c");
      try (var socket = site.connect()) {
        socket.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
        awaitStreams(site, 1);
      }
      awaitStreams(site, 0);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/chat/stream", "/chat/stream?conversationId=later"})
  void also_one_who_follows_all_conversations_or_one_to_come(String path) throws IOException {
    try (var site = Site.durable(folder, Site.Wish.USUAL.heartbeat(Duration.ZERO))) {
      try (var socket = site.connect()) {
        var request = REQUEST.replace("/api/contexts/c/stream", path);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        awaitStreams(site, 1);
      }
      awaitStreams(site, 0);
    }
  }

  @Test
  void a_reader_who_has_nothing_more_to_say_goes_on_reading() throws IOException {
    try (var site = Site.open(folder, Site.Wish.USUAL.heartbeat(Duration.ZERO))) {
      var context = site.context("c");
      try (var socket = site.connect()) {
        socket.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
        socket.shutdownOutput();
        var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        awaitLine(lines, ": heartbeat");
        awaitLine(lines, ": heartbeat");
        site.append(context, new ContextUpdated("later", null));
        awaitLine(lines, "event: context-updated");
      }
    }
  }

  private static void awaitLine(BufferedReader lines, String wanted) throws IOException {
    for (var line = lines.readLine(); !wanted.equals(line); line = lines.readLine()) {
      assertThat(line).isNotNull();
    }
  }

  /// Asks until so many streams are open; the test's time is the limit.
  private static void awaitStreams(Site site, int count) {
    while (!site.get("/metrics").body().contains("\nparley_streams_open " + count + "\n")) {
      Thread.onSpinWait();
    }
  }
}
