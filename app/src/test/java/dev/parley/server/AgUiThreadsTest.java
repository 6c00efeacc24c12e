package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.agui.AgUiRules;
import dev.parley.protocol.Json;
import dev.parley.server.EventReader.Frame;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;

/// Threads that are read again, from any frame on, and runs that are stopped.
class AgUiThreadsTest extends AgUiFixture {

  @Test
  void a_reader_goes_on_at_exactly_the_frame_after_any_other() throws IOException {
    var frames = new ArrayList<Frame>(app.say("think about cats").frames());
    frames.addAll(app.say("delegate think about tea to research and writer").frames());
    var asked = app.say("delegate run echo hi to research");
    frames.addAll(asked.frames());
    frames.addAll(app.answer(asked, BooleanNode.TRUE).frames());

    for (var i = 0; i < frames.size() - 1; i++) {
      assertThat(app.after(frames.get(i).id()))
          .as("after %d, %s", i, frames.get(i))
          .isEqualTo(frames.subList(i + 1, frames.size()));
    }
    assertThat(testServer.get(app.events("?after=" + frames.getLast().id())).statusCode())
        .isEqualTo(204);
  }

  @Test
  void the_header_is_stronger_than_the_query() throws IOException {
    var frames = app.say("count to 3").frames();
    try (var reader =
        testServer.stream(
            app.events("?after=" + frames.get(4).id()), "Last-Event-ID", frames.get(2).id())) {
      assertThat(AgUiTestClient.rest(reader)).isEqualTo(frames.subList(3, frames.size()));
    }
  }

  @Test
  void closing_the_connection_stops_nothing() throws IOException {
    app.said("count slowly to 10");
    List<Frame> seen;
    try (var reader = app.open(app.input())) {
      seen = AgUiTestClient.until(reader, event -> is(event, "TEXT_MESSAGE_CONTENT"));
    }
    var rest = app.after(seen.getLast().id());

    assertThat(rest.getLast().json().path("result").asString()).isEqualTo("1 2 3 4 5 6 7 8 9 10");
    var all = new ArrayList<>(seen);
    all.addAll(rest);
    AgUiRules.check(all.stream().map(Frame::json).toList(), true);
  }

  @Test
  void whoever_comes_to_a_thread_with_a_past_gets_it_as_snapshots() throws IOException {
    app.more.putObject("state").put("colour", "blue");
    app.say("calculate 6*7");
    app.say("say two");
    var connected = app.after("").stream().map(Frame::json).toList();

    AgUiRules.check(connected, true);
    assertThat(connected.stream().map(event -> event.path("type").asString()))
        .containsExactly("RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED");
    var messages = connected.get(1).path("messages");
    assertThat(messages.valueStream().map(message -> message.path("role").asString()))
        .containsExactly(
            "user", "reasoning", "assistant", "tool", "assistant", "user", "assistant");
    assertThat(messages.path(2).path("toolCalls").path(0).path("function").path("name").asString())
        .isEqualTo("calculator");
    assertThat(messages.path(6).path("content").asString()).isEqualTo("two");
    assertThat(connected.get(2).path("snapshot").path("colour").asString()).isEqualTo("blue");
  }

  @Test
  void whoever_comes_in_the_middle_of_a_run_gets_what_was_said_and_what_follows()
      throws IOException {
    app.said("count slowly to 12");
    try (var running = app.open(app.input())) {
      var seen =
          AgUiTestClient.until(running, event -> event.path("delta").asString("").contains("3"));
      var connected = app.after("").stream().map(Frame::json).toList();

      AgUiRules.check(connected, true);
      assertThat(is(connected.get(1), "MESSAGES_SNAPSHOT")).isTrue();
      var partial = connected.get(1).path("messages").path(1).path("content").asString();
      assertThat(partial).startsWith("1 2 3");
      var more = new StringBuilder(partial);
      connected.stream()
          .filter(event -> is(event, "TEXT_MESSAGE_CONTENT"))
          .forEach(event -> more.append(event.path("delta").asString()));
      assertThat(more.toString()).isEqualTo("1 2 3 4 5 6 7 8 9 10 11 12");
      assertThat(seen).isNotEmpty();
    }
  }

  @Test
  void a_recap_that_was_cut_goes_on_after_the_frame_that_was_read() throws IOException {
    app.say("think about cats");
    var asked = app.say("delegate run echo hi to research");
    var recap = app.after("");
    assertThat(recap.getLast().json().path("outcome")).isEqualTo(asked.outcome());

    // The id that comes before all frames is one of a reader who has none of them.
    try (var reader = testServer.stream(app.events(""))) {
      assertThat(app.after(String.valueOf(reader.next().id()))).isEqualTo(recap);
    }
    app.answer(asked, BooleanNode.TRUE);
    for (var i = 0; i < recap.size() - 1; i++) {
      assertThat(app.after(recap.get(i).id()).subList(0, recap.size() - i - 1))
          .isEqualTo(recap.subList(i + 1, recap.size()));
    }
  }

  @Test
  void a_follower_stays_for_the_next_run() throws IOException {
    app.say("say one");
    try (var reader = testServer.stream(app.events("?follow=true"))) {
      var first = AgUiTestClient.until(reader, event -> is(event, "RUN_FINISHED"));
      var run = app.say("say two");
      var second = AgUiTestClient.until(reader, event -> is(event, "RUN_FINISHED"));

      assertThat(second).isEqualTo(run.frames());
      var all = new ArrayList<>(first);
      all.addAll(second);
      AgUiRules.check(all.stream().map(Frame::json).toList(), true);
    }
  }

  @Test
  void a_run_is_stopped_by_a_call() throws IOException {
    app.said("count slowly to 1000");
    try (var reader = app.open(app.input())) {
      AgUiTestClient.until(reader, event -> is(event, "TEXT_MESSAGE_CONTENT"));
      var cancelled = app.cancel();

      assertThat(cancelled.statusCode()).isEqualTo(202);
      var rest = AgUiTestClient.rest(reader).stream().map(Frame::json).toList();
      assertThat(rest.getLast().path("outcome").path("type").asString()).isEqualTo("cancelled");
      assertThat(is(rest.get(rest.size() - 2), "TEXT_MESSAGE_END")).isTrue();
    }
    assertThat(app.say("say after").text()).isEqualTo("after");
    assertThat(app.cancel().statusCode()).isEqualTo(409);
  }

  @Test
  void a_run_that_waits_for_an_answer_is_stopped_too() throws IOException {
    var asked = app.say("run touch made");
    assertThat(app.cancel().statusCode()).isEqualTo(202);
    var rest = app.after(asked.frames().getLast().id()).stream().map(Frame::json).toList();

    AgUiRules.check(rest, true);
    assertThat(rest.getLast().path("outcome").path("type").asString()).isEqualTo("cancelled");
    assertThat(app.say("say after").text()).isEqualTo("after");
  }

  @Test
  void a_run_in_line_is_stopped_by_its_name_and_told_so() throws IOException {
    app.said("count slowly to 1000");
    try (var first = app.open(app.input())) {
      AgUiTestClient.until(first, event -> is(event, "TEXT_MESSAGE_CONTENT"));
      app.said("say never");
      var input = app.input();
      try (var second = app.open(input)) {
        var cancel = Json.object().put("runId", input.path("runId").asString()).toString();
        var path = "/ag-ui/agent-code/threads/" + thread + "/cancel";
        assertThat(testServer.post(path, cancel).statusCode()).isEqualTo(202);
        var told = AgUiTestClient.rest(second).stream().map(Frame::json).toList();

        AgUiRules.check(told, true);
        assertThat(told.getLast().path("outcome").path("type").asString()).isEqualTo("cancelled");
      }
      app.cancel();
      AgUiTestClient.rest(first);
    }
  }

  @Test
  void a_cursor_that_cannot_be_served_is_refused() throws IOException {
    app.say("say one");

    for (var cursor : List.of("x", "5~0", "5~x", "-1", "s1-2", "s1-2~x", "1.x")) {
      var refused = testServer.get(app.events("?after=" + cursor));
      assertThat(refused.statusCode()).as(cursor).isEqualTo(400);
      assertThat(Json.mapper().readTree(refused.body()).path("code").asString())
          .isEqualTo("invalid-cursor");
    }
    assertThat(testServer.get(app.events("?after=9999")).body()).contains("cursor-ahead");
    assertThat(testServer.get(app.events("?after=s1-9999~1")).body()).contains("cursor-ahead");
    assertThat(testServer.get("/ag-ui/agent-code/threads/other/events").statusCode())
        .isEqualTo(404);
    assertThat(testServer.get("/ag-ui/nobody/threads/" + thread + "/events").statusCode())
        .isEqualTo(404);
  }

  @Test
  void an_agent_says_what_it_can_do() {
    var capabilities = Json.mapper().readTree(testServer.get("/ag-ui/agent-code").body());

    assertThat(capabilities.path("transport").path("resumable").asBoolean()).isTrue();
    assertThat(capabilities.path("humanInTheLoop").path("approveWithEdits").asBoolean()).isTrue();
    assertThat(capabilities.path("tools").path("clientProvided").asBoolean()).isTrue();
    assertThat(capabilities.path("multiAgent").path("subagents").size()).isEqualTo(3);
    assertThat(testServer.get("/ag-ui/nobody").statusCode()).isEqualTo(404);
  }

  private static boolean is(JsonNode event, String type) {
    return event.path("type").asString().equals(type);
  }
}
