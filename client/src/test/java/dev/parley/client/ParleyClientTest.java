package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.Rewind.Rewound;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ParleyClientTest {

  private static final Reconnect QUICK =
      new Reconnect(Duration.ofMillis(1), Duration.ofMillis(5), 3, Duration.ofSeconds(20));

  private static final String ACCEPTED =
      "{\"contextId\":\"c-1\",\"messageId\":\"m-1\",\"taskId\":\"t-1\",\"seq\":2,\"new\":true}";

  private static final String REWOUND = "{\"contextId\":\"c-1\",\"seq\":9,\"toSeq\":3}";

  private static final String FORKED =
      """
      {"contextId":"c-2","owner":"local","createdAt":"2026-01-01T00:00:00.000Z",
       "updatedAt":"2026-01-01T00:00:00.000Z","position":8,"messageCount":0,"openTasks":0,
       "forkedFrom":{"contextId":"c-1","atSeq":7}}
      """;

  @Test
  void a_context_is_rewound_and_forked() {
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) ->
                    fakeReply.json(
                        200, fakeRequest.path().endsWith("/rewind") ? REWOUND : FORKED));
        var client = client(server)) {

      assertThat(client.rewind(ContextLogFixture.CONTEXT, Rewind.before(new TaskId("t-1"))))
          .isEqualTo(new Rewound(ContextLogFixture.CONTEXT, 9, 3));
      client.rewind(ContextLogFixture.CONTEXT, Rewind.before(new MessageId("m-1")));
      client.rewind(ContextLogFixture.CONTEXT, Rewind.to(3));
      assertThat(client.fork(ContextLogFixture.CONTEXT, NewFork.at(7)).forkedFrom())
          .isEqualTo(new ContextView.ForkedFrom(ContextLogFixture.CONTEXT, 7));
      client.fork(ContextLogFixture.CONTEXT, NewFork.OF_ALL);

      var path = "/api/contexts/" + ContextLogFixture.CONTEXT;
      assertThat(server.requests())
          .extracting(fakeRequest -> fakeRequest.path() + " " + fakeRequest.body())
          .containsExactly(
              path + "/rewind {\"beforeTaskId\":\"t-1\"}",
              path + "/rewind {\"beforeMessageId\":\"m-1\"}",
              path + "/rewind {\"toSeq\":3}",
              path + "/fork {\"atSeq\":7}",
              path + "/fork {}");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, invalid-cursor, Invalid",
    "401, unauthorized, Unauthorized",
    "403, wrong-host, Forbidden",
    "404, not-found, NotFound",
    "405, method, Invalid",
    "409, busy-context, Conflict",
    "409, stale, Stale",
    "410, gone, Gone",
    "413, body-too-large, TooLarge",
    "429, too-many-streams, Busy",
    "503, unavailable, Unavailable",
    "503, draining, Busy"
  })
  void a_problem_is_thrown_as_the_rejection_it_came_from(int status, String code, String type) {
    var problem =
        "{\"title\":\"t\",\"status\":%d,\"detail\":\"because\",\"code\":\"%s\"}"
            .formatted(status, code);
    try (var server = new FakeHttpServer((_, fakeReply) -> fakeReply.json(status, problem));
        var client = client(server)) {

      assertThatThrownBy(() -> client.context(ContextLogFixture.CONTEXT))
          .isInstanceOf(Rejection.class)
          .hasMessage("because")
          .satisfies(e -> assertThat(e.getClass().getSimpleName()).isEqualTo(type))
          .satisfies(
              e -> {
                if (status != 405) {
                  assertThat(((Rejection) e).code()).isEqualTo(code);
                }
              });
    }
  }

  @Test
  void a_failing_server_is_asked_again_and_then_reported() {
    try (var server =
            new FakeHttpServer((_, fakeReply) -> fakeReply.json(500, "{\"detail\":\"a bug\"}"));
        var client = client(server)) {

      assertThatThrownBy(() -> client.context(ContextLogFixture.CONTEXT))
          .isInstanceOf(BadAnswer.class)
          .hasMessageContaining("a bug");
      assertThat(server.requests()).hasSize(3);
    }
  }

  /// CORE-7.
  @Test
  void a_message_whose_answer_was_lost_is_sent_again_with_the_same_key() {
    var calls = new AtomicInteger();
    try (var server =
            new FakeHttpServer(
                (_, fakeReply) -> {
                  if (calls.getAndIncrement() > 0) {
                    fakeReply.json(202, ACCEPTED);
                  }
                });
        var client = client(server)) {
      var message =
          NewMessage.text("hi").to(new AgentTypeId("agent-code")).whenBusy("reject").in("/tmp");
      var accepted = client.send(ContextLogFixture.CONTEXT, message);

      assertThat(accepted.taskId()).isEqualTo(ContextLogFixture.TASK);
      assertThat(server.requests()).hasSize(2);
      assertThat(server.requests())
          .extracting(r -> r.header("Idempotency-Key"))
          .doesNotContain("")
          .containsOnly(server.requests().getFirst().header("Idempotency-Key"));
      assertThat(server.requests().getLast().body())
          .isEqualTo(
              "{\"content\":\"hi\",\"agentId\":\"agent-code\",\"workingDirectory\":\"/tmp\","
                  + "\"whenBusy\":\"reject\"}");
    }
  }

  @Test
  void two_messages_have_two_keys_and_each_request_the_token() {
    try (var server = new FakeHttpServer((_, fakeReply) -> fakeReply.json(202, ACCEPTED));
        var client = new ParleyClient(ClientSettings.of(server.url()).withToken("secret"))) {
      client.send(ContextLogFixture.CONTEXT, NewMessage.text("hi"));
      client.send(ContextLogFixture.CONTEXT, NewMessage.text("hi"));

      assertThat(server.requests())
          .extracting(r -> r.header("Idempotency-Key"))
          .doesNotHaveDuplicates();
      assertThat(server.requests())
          .extracting(r -> r.header("Authorization"))
          .containsOnly("Bearer secret");
      assertThat(ClientSettings.of(server.url()).withToken("secret").toString())
          .doesNotContain("secret");
    }
  }

  @Test
  void a_server_that_is_not_there_is_said_so_at_once() throws IOException {
    try (var client = new ParleyClient(nobody())) {
      assertThatThrownBy(() -> client.context(ContextLogFixture.CONTEXT))
          .isInstanceOf(Unreachable.class)
          .hasMessageStartingWith("No Parley server answers at http://127.0.0.1:");
    }
  }

  @Test
  void another_kind_of_server_is_recognised() {
    try (var server = new FakeHttpServer((_, fakeReply) -> fakeReply.json(200, "<html>"));
        var client = client(server)) {
      assertThatThrownBy(() -> client.context(ContextLogFixture.CONTEXT))
          .isInstanceOf(BadAnswer.class)
          .hasMessageContaining("is this a Parley server?");
    }
  }

  @Test
  void an_answer_that_lacks_a_field_is_the_servers_fault() {
    try (var server =
            new FakeHttpServer((_, fakeReply) -> fakeReply.json(202, "{\"contextId\":\"c-1\"}"));
        var client = client(server)) {
      assertThatThrownBy(() -> client.send(ContextLogFixture.CONTEXT, NewMessage.text("hi")))
          .isInstanceOf(BadAnswer.class);
    }
  }

  @Test
  void a_server_that_does_not_answer_in_time_is_given_up() {
    try (var server = new FakeHttpServer((_, fakeReply) -> fakeReply.hold())) {
      var settings =
          new ClientSettings(
              server.url(), null, Duration.ofSeconds(5), Duration.ofMillis(30), QUICK, _ -> {});
      try (var client = new ParleyClient(settings)) {
        assertThatThrownBy(() -> client.context(ContextLogFixture.CONTEXT))
            .isInstanceOf(Unreachable.class)
            .hasMessageContaining("no answer within 30 ms");
      }
    }
  }

  @Test
  void a_list_is_read_page_by_page_up_to_a_limit() {
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  var cursor = fakeRequest.query().contains("cursor=") ? "2" : "1";
                  fakeReply.json(
                      200,
                      "{\"items\":[{\"contextId\":\"c-%s\",\"owner\":\"local\",\"createdAt\":\"2026-11-15T10:30:00.123Z\",\"updatedAt\":\"2026-11-15T10:30:00.123Z\",\"position\":\"1\",\"messageCount\":1,\"openTasks\":0}],\"nextCursor\":\"x y\"}"
                          .formatted(cursor));
                });
        var client = client(server)) {
      var contexts = ResultPage.collect(cursor -> client.contexts(cursor, 100), 2);

      assertThat(contexts)
          .extracting(ContextView::contextId)
          .containsExactly(new ContextId("c-1"), new ContextId("c-2"));
      assertThat(server.requests().getLast().query()).isEqualTo("cursor=x+y&limit=100");
    }
  }

  @Test
  void a_question_yields_the_events_of_its_task_and_ends_with_it() throws Exception {
    var other = new TaskId("t-0");
    var frames =
        frame(3, other, new ContentDelta("not mine", 0, null))
            + frame(4, ContextLogFixture.TASK, new ContentDelta("Hel", 0, null))
            + frame(5, ContextLogFixture.TASK, new ContentDelta("lo", 1, null))
            + frame(6, other, new TaskComplete(null, null, null))
            + frame(7, ContextLogFixture.TASK, new TaskStatus(TaskState.COMPLETED, null, null))
            + frame(8, ContextLogFixture.TASK, new TaskComplete("Hello", null, null));
    try (var server =
            new FakeHttpServer(
                (fakeRequest, fakeReply) -> {
                  if (fakeRequest.method().equals("POST")) {
                    fakeReply.json(202, ACCEPTED);
                  } else {
                    fakeReply.stream(true).send(frames).hold();
                  }
                });
        var client = client(server);
        var answer = client.sendAndStream(ContextLogFixture.CONTEXT, NewMessage.text("hi"))) {

      assertThat(answer.text()).isEqualTo("Hello");
      assertThat(answer.outcome()).contains(TaskState.COMPLETED);
      assertThat(answer.next()).isEmpty();
      assertThat(server.requests().getLast().header("Last-Event-ID")).isEqualTo("2");
    }
  }

  @Test
  void an_address_that_is_none_is_refused() {
    for (var url : new String[] {"ftp://x", "127.0.0.1:7070", "http://x/?a=b", "http://me@x"}) {
      assertThatThrownBy(() -> ClientSettings.of(URI.create("http://x").resolve(url)))
          .as(url)
          .isInstanceOfAny(Rejection.Invalid.class, IllegalArgumentException.class);
    }
  }

  private static String frame(long seq, TaskId task, dev.parley.protocol.Event event) {
    var entry = ContextLogFixture.entry(seq, event);
    return ContextLogFixture.frame(
        new dev.parley.protocol.Entry(
            entry.contextId(),
            entry.position(),
            entry.eventId(),
            entry.timestamp(),
            dev.parley.protocol.Origin.root(task, new AgentTypeId("agent-code")),
            event));
  }

  private static ParleyClient client(FakeHttpServer server) {
    return new ParleyClient(ClientSettings.of(server.url()).withReconnect(QUICK));
  }

  /// An address on which no server listens: its port was just closed.
  private static URI nobody() throws IOException {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }
  }
}
