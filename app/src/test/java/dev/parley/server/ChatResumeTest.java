package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.server.ChatTestClient.Sent;
import dev.parley.server.EventReader.Frame;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Coming back to a stream of chat events, of one conversation and of all: CHAT-12, CHAT-28, CHAT-43.
class ChatResumeTest extends ChatFixture {

  private static final String ANN = "ann-token";
  private static final String BEN = "ben-token";

  @Test
  void a_reader_cut_off_after_any_event_gets_exactly_the_rest_s1_43() throws Exception {
    for (var text : List.of("delegate say hello to agent-code and agent-data", "fail")) {
      var sent = chatTestClient.say(text);
      var whole = chatTestClient.follow(sent);
      for (var i = 0; i < whole.size() - 1; i++) {
        try (var reader =
            chatTestClient.stream(sent.conversationId(), "Last-Event-ID", whole.get(i).id())) {
          assertThat(ChatTestClient.until(reader, f -> ChatTestClient.ends(f, sent)))
              .as("after %s", whole.get(i).id())
              .isEqualTo(whole.subList(i + 1, whole.size()));
        }
      }
    }
  }

  @Test
  void text_that_is_repeated_after_a_crash_says_what_it_replaces() throws Exception {
    var context = testServer.context("crashed");
    var task = Origin.root(new TaskId("t"), new AgentTypeId("agent-code"));
    var cut = new BlockId("cut");
    var whole = new BlockId("whole");
    testServer.append(
        context, task, new TaskCreated(Initiator.USER, null, null, "go", null, null, null, null));
    testServer.append(context, task, new ContentDelta("one ", 0, cut));
    testServer.append(
        context,
        task,
        new ContentComplete("one ", cut, FinishReason.INTERRUPTED, true, null, null));
    testServer.append(context, task, new ContentDelta("one ", 0, whole));
    testServer.append(context, task, new ContentDelta("two", 1, whole));
    try (var reader = chatTestClient.stream("crashed", "Last-Event-ID", "0")) {
      var told = ChatTestClient.until(reader, f -> f.data() != null && f.data().contains("two"));
      var shown = new LinkedHashMap<String, String>();
      for (var frame : told) {
        if ("task_output".equals(frame.event())) {
          var json = frame.json();
          shown.remove(json.path("replaces").asString(""));
          shown.merge(
              json.path("blockId").asString(), json.path("content").asString(), String::concat);
        }
      }
      assertThat(shown).containsExactly(Map.entry("whole", "one two"));
    }
  }

  @Test
  void two_events_of_one_entry_have_ids_of_their_own_s1_43() throws Exception {
    var whole = chatTestClient.follow(chatTestClient.say("say hi"));
    var last = whole.getLast().id();

    assertThat(whole.get(whole.size() - 2).event()).isEqualTo("task_completed");
    assertThat(whole.get(whole.size() - 2).id()).isEqualTo(last + "~1");
  }

  @Test
  void a_reader_comes_back_with_after_too() throws Exception {
    var sent = chatTestClient.say("say hi");
    var whole = chatTestClient.follow(sent);
    var path = "/chat/stream?conversationId=" + sent.conversationId() + "&after=";
    try (var reader = testServer.stream(path + whole.get(3).id())) {
      assertThat(ChatTestClient.until(reader, f -> ChatTestClient.ends(f, sent)))
          .isEqualTo(whole.subList(4, whole.size()));
    }
  }

  @Test
  void a_cursor_that_cannot_be_served_gets_an_answer_s1_43() throws Exception {
    var sent = chatTestClient.say("say hi");
    chatTestClient.follow(sent);
    try (var ahead = chatTestClient.stream(sent.conversationId(), "Last-Event-ID", "4000")) {
      var gap = ChatTestClient.until(ahead, f -> f.event().equals("stream_gap")).getLast();
      assertThat(gap.json().path("reason").asString()).isEqualTo("ahead-of-head");
      assertThat(gap.json().path("requested").asString()).isEqualTo("4000");
      assertThat(gap.json().path("eventId").asString()).isNotEmpty();
      assertThat(gap.json().path("timestamp").asString()).isNotEmpty();
    }
    for (var cursor : List.of("x", "1~0", "1~x", "~1", "1-2")) {
      var path = "/chat/stream?conversationId=" + sent.conversationId();
      assertThat(testServer.get(path, "Last-Event-ID", cursor).statusCode())
          .as(cursor)
          .isEqualTo(400);
    }
    for (var cursor : List.of("x", "17", "1-2~1", "1-2-3~x")) {
      var reply = testServer.get("/chat/stream", "Last-Event-ID", cursor);
      assertThat(reply.statusCode()).as(cursor).isEqualTo(400);
    }
  }

  @Test
  void a_stream_of_all_conversations_has_them_all_s1_28() throws Exception {
    try (var reader = chatTestClient.stream("")) {
      reader.next();
      var sent =
          List.of(
              chatTestClient.say("a", "count to 9"),
              chatTestClient.say("b", "say hi"),
              chatTestClient.say("fail"));
      var frames = untilAll(reader, sent);

      for (var one : sent) {
        assertThat(data(frames, one.conversationId())).isEqualTo(data(chatTestClient.follow(one)));
      }
      assertThat(frames).extracting(Frame::id).doesNotHaveDuplicates();
    }
  }

  @Test
  void a_reader_of_all_conversations_gets_exactly_the_rest_s1_28_s1_43() throws Exception {
    List<Frame> whole;
    List<Sent> sent;
    try (var reader = chatTestClient.stream("")) {
      reader.next();
      sent = List.of(chatTestClient.say("a", "say hi"), chatTestClient.say("b", "fail"));
      whole = untilAll(reader, sent);
    }
    for (var i = 0; i < whole.size() - 1; i++) {
      try (var reader = chatTestClient.stream("", "Last-Event-ID", whole.get(i).id())) {
        var rest = whole.subList(i + 1, whole.size());
        var last = rest.getLast();
        assertThat(
                data(ChatTestClient.until(reader, f -> f.id() != null && f.id().equals(last.id()))))
            .as("after %s", whole.get(i).id())
            .isEqualTo(data(rest));
      }
    }
  }

  @Test
  void a_reader_of_all_conversations_whose_cursor_is_lost_is_told_so() throws Exception {
    try (var reader = chatTestClient.stream("", "Last-Event-ID", "999999-1")) {
      var gap = ChatTestClient.until(reader, f -> f.event().equals("stream_gap")).getLast();
      assertThat(gap.json().path("reason").asString()).isEqualTo("cursor-lost");
      assertThat(gap.json().path("requested").asString()).isEqualTo("999999-1");
      // It goes on with what happens now.
      var sent = chatTestClient.say("say hi");
      ChatTestClient.until(reader, f -> ChatTestClient.ends(f, sent));
    }
  }

  @Test
  void nobody_sees_anothers_conversation_whenever_it_begins_s1_12_s1_42() throws Exception {
    var wish =
        TestServer.Wish.USUAL
            .heartbeat(Duration.ofMillis(50))
            .tokens(
                new ApiToken("ann", ChatMessagesTest.sha256(ANN)),
                new ApiToken("ben", ChatMessagesTest.sha256(BEN)));
    try (var shared = TestServer.open(folder.resolve("shared"), wish)) {
      var ann = ChatTestClient.as(shared, ANN);
      var ben = ChatTestClient.as(shared, BEN);
      try (var before = ben.stream("anns");
          var all = ben.stream("")) {
        before.next();
        all.next();
        var sent = ann.say("anns", "say secret");
        ann.follow(sent);
        try (var after = ben.stream("anns")) {
          // Nothing but heartbeats, before and after the conversation began.
          for (var i = 0; i < 4; i++) {
            assertThat(before.next().event()).isNull();
            assertThat(after.next().event()).isNull();
            assertThat(all.next().event()).isNull();
          }
        }
        var own = ben.say("bens", "say hi");
        var seen = ChatTestClient.until(all, f -> ChatTestClient.ends(f, own));
        assertThat(seen).noneMatch(frame -> frame.data().contains("anns"));
      }
    }
  }

  private static List<Frame> untilAll(EventReader reader, List<Sent> sent) throws Exception {
    var left = sent.stream().collect(Collectors.toMap(Sent::taskId, one -> one));
    return ChatTestClient.until(reader, frame -> done(frame, left));
  }

  private static boolean done(Frame frame, Map<String, Sent> left) {
    if (ChatTestClient.ends(frame)) {
      left.remove(frame.json().path("taskId").asString());
    }
    return left.isEmpty();
  }

  private static List<String> data(List<Frame> frames) {
    return frames.stream().map(Frame::data).toList();
  }

  private static List<String> data(List<Frame> frames, String conversation) {
    return frames.stream()
        .filter(f -> f.json().path("conversationId").asString().equals(conversation))
        .map(Frame::data)
        .toList();
  }
}
