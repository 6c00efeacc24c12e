package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.server.A2aTestClient.Frame;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Whoever comes back gets the rest: nothing is lost and nothing comes twice (SESSION-62, EVENT-63, EVENT-76).
class A2aResumeTest {

  private static final int CUTS = 100;

  @TempDir private Path folder;

  /// Reads at most `max` frames.
  private static List<Frame> read(EventReader reader, int max) throws IOException {
    var frames = new ArrayList<Frame>();
    while (frames.size() < max) {
      var frame = reader.next();
      if (frame == null) {
        return frames;
      }
      if (frame.data() != null) {
        frames.add(A2aTestClient.frame(frame));
      }
    }
    return frames;
  }

  private static JsonNode begun(A2aTestClient peer, String text) {
    var wanted = peer.say("resume-" + peer.version, text);
    wanted.putObject("configuration").put("blocking", false).put("returnImmediately", true);
    return peer.send(wanted);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_hundred_cuts_at_random_places_lose_nothing_and_double_nothing(String version)
      throws IOException {
    var random = new Random(7);
    var testServer =
        TestServer.durable(folder.resolve("data"), TestServer.Wish.USUAL, A2aJsonRpcTest.YAML);
    try {
      var peer = new A2aTestClient(testServer, "helper", version);
      var task = begun(peer, "count to 400").path("id").asString();
      var told = new ArrayList<Frame>();
      for (var cut = 1; cut <= CUTS; cut++) {
        var after = told.isEmpty() ? "0" : told.getLast().id();
        try (var reader =
            peer.open(peer.subscribing(), A2aTestClient.id(task), "Last-Event-ID", after)) {
          told.addAll(read(reader, 1 + random.nextInt(5)));
        }
        if (cut == CUTS / 2) {
          testServer.close();
          testServer =
              TestServer.durable(
                  folder.resolve("data"), TestServer.Wish.USUAL, A2aJsonRpcTest.YAML);
          peer = new A2aTestClient(testServer, "helper", version);
        }
      }
      try (var reader =
          peer.open(
              peer.subscribing(), A2aTestClient.id(task), "Last-Event-ID", told.getLast().id())) {
        told.addAll(read(reader, Integer.MAX_VALUE));
      }

      var whole = peer.stream(peer.subscribing(), A2aTestClient.id(task), "Last-Event-ID", "0");
      assertThat(told).isEqualTo(whole);
      assertThat(told).extracting(Frame::id).doesNotHaveDuplicates();
      var now = peer.result(peer.getting(), A2aTestClient.id(task));
      assertThat(text(told, peer)).isEqualTo(A2aTestClient.text(now));
      assertThat(told.getLast().result().toString()).contains(peer.state("completed"));
    } finally {
      testServer.close();
    }
  }

  /// What a client makes of the pieces: a first one begins an artifact anew, others are added.
  private static String text(List<Frame> frames, A2aTestClient peer) {
    var artifacts = new java.util.LinkedHashMap<String, String>();
    for (var frame : frames) {
      var update = peer.modern() ? frame.result().path("artifactUpdate") : frame.result();
      if (update.has("artifact")) {
        var artifact = update.path("artifact");
        var piece = artifact.path("parts").get(0).path("text").asString("");
        artifacts.merge(
            artifact.path("artifactId").asString(),
            piece,
            (before, more) -> update.path("append").asBoolean(false) ? before + more : more);
      }
    }
    return String.join("", artifacts.values());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void whoever_comes_without_an_id_begins_with_the_task_as_it_is(String version)
      throws IOException {
    var time = new ManualTime();
    try (var testServer =
        TestServer.durable(folder, A2aJsonRpcTest.YAML, time, new SystemThreads())) {
      var peer = new A2aTestClient(testServer, "helper", version);
      var id = A2aTestClient.id(begun(peer, "count slowly to 80").path("id").asString());
      try (var early = peer.open(peer.subscribing(), id)) {
        // Once there is some text, another one comes.
        time.advanceUntil(ManualTime.start("early", () -> read(early, 5)), "task-");
        var frames = new ArrayList<Frame>();
        try (var later = peer.open(peer.subscribing(), id)) {
          frames.addAll(read(later, 1));
          var rest = ManualTime.start("later", () -> read(later, Integer.MAX_VALUE));
          frames.addAll(time.advanceUntil(rest, "task-"));
        }

        var first = frames.getFirst().result();
        var task = peer.modern() ? first.path("task") : first;
        assertThat(task.path("id")).isEqualTo(id.path("id"));
        var rest = text(frames, peer);
        var now = peer.result(peer.getting(), id);
        assertThat(A2aTestClient.text(now)).endsWith(rest).startsWith(A2aTestClient.text(task));
        assertThat(A2aTestClient.text(task).length() + rest.length())
            .isEqualTo(A2aTestClient.text(now).length());
      }
    }
  }

  @Test
  void a_task_that_has_ended_is_shown_by_0_3_and_refused_by_1_0() throws IOException {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML)) {
      var early = new A2aTestClient(testServer, "helper", "0.3");
      var now = new A2aTestClient(testServer, "helper", "1.0");
      var id = A2aTestClient.id(early.send(early.say("m", "say done")).path("id").asString());

      assertThat(early.stream("tasks/resubscribe", id)).hasSize(1);
      assertThat(now.error("SubscribeToTask", id)).isEqualTo(-32004);
      assertThat(now.error("SubscribeToTask", id, "Last-Event-ID", "99999")).isEqualTo(-32602);
      assertThat(now.error("SubscribeToTask", id, "Last-Event-ID", "x")).isEqualTo(-32602);
      assertThat(now.error("SubscribeToTask", Json.object())).isEqualTo(-32602);
      var all = now.stream("SubscribeToTask", id, "Last-Event-ID", "0");
      assertThat(now.error("SubscribeToTask", id, "Last-Event-ID", all.getLast().id()))
          .isEqualTo(-32004);
    }
  }
}
