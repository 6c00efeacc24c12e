package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.Sha256;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// What the AG-UI API takes as the input of a run, and what it refuses before any event.
class AgUiInputTest extends AgUiFixture {

  private static final String GOOD =
      "\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[{\"id\":\"m\",\"role\":\"user\",\"content\":\"say"
          + " hi\"}]";

  static Stream<Arguments> refused() {
    return Stream.of(
        Arguments.of("{", "invalid-json", ""),
        Arguments.of("[]", "invalid-json", ""),
        Arguments.of("{}", "invalid", "threadId"),
        Arguments.of("{\"threadId\":\"t\"}", "invalid", "runId"),
        Arguments.of("{\"threadId\":1,\"runId\":\"r\",\"messages\":[]}", "invalid", "threadId"),
        Arguments.of(
            "{\"threadId\":\"a b\",\"runId\":\"r\",\"messages\":[]}", "invalid-id", "threadId"),
        Arguments.of("{\"threadId\":\"t\",\"runId\":\"\",\"messages\":[]}", "invalid-id", "runId"),
        Arguments.of("{\"threadId\":\"t\",\"runId\":\"r\"}", "invalid", "messages"),
        Arguments.of("{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":{}}", "invalid", "messages"),
        Arguments.of(
            "{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[]}", "nothing-new", "messages"),
        Arguments.of(message("{\"role\":\"user\",\"content\":\"x\"}"), "invalid", "messages[0].id"),
        Arguments.of(message("{\"id\":\"m\",\"content\":\"x\"}"), "invalid", "messages[0].role"),
        Arguments.of(
            message("{\"id\":\"m\",\"role\":\"user\",\"content\":7}"),
            "invalid",
            "messages[0].content"),
        Arguments.of(
            message("{\"id\":\"m n\",\"role\":\"user\",\"content\":\"x\"}"),
            "invalid-id",
            "messages[0].id"),
        Arguments.of(
            message("{\"id\":\"m\",\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}"),
            "invalid",
            "messages[0].content"),
        Arguments.of(
            message(
                "{\"id\":\"m\",\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"data\",\"value\":\"x\"}}]}"),
            "invalid",
            "image"),
        Arguments.of(
            message("{\"id\":\"m\",\"role\":\"user\",\"content\":\" \"}"), "invalid", "text"),
        Arguments.of(
            message("{\"id\":\"m\",\"role\":\"tool\",\"content\":\"x\"}"),
            "invalid",
            "messages[0].toolCallId"),
        Arguments.of(with("\"tools\":[{\"name\":\"x\"}]"), "invalid", "tools[0].description"),
        Arguments.of(
            with("\"tools\":[{\"name\":\"x y\",\"description\":\"\"}]"),
            "invalid",
            "tools[0].name"),
        Arguments.of(
            with("\"tools\":[{\"name\":\"x\",\"description\":\"\",\"parameters\":7}]"),
            "invalid",
            "tools[0].parameters"),
        Arguments.of(with("\"context\":[{\"value\":\"\"}]"), "invalid", "context[0].description"),
        Arguments.of(with("\"state\":[1]"), "invalid", "state"),
        Arguments.of(with("\"resume\":{}"), "invalid", "resume"),
        Arguments.of(with("\"resume\":[{\"interruptId\":\"i\"}]"), "invalid", "resume[0].status"),
        Arguments.of(
            with("\"resume\":[{\"interruptId\":\"i\",\"status\":\"maybe\"}]"),
            "invalid",
            "resume[0].status"),
        Arguments.of(
            with("\"resume\":[{\"interruptId\":\"i\",\"status\":\"resolved\",\"payload\":null}]"),
            "invalid",
            "resume[0].payload"),
        Arguments.of(
            with(
                "\"resume\":[{\"interruptId\":\"i\",\"status\":\"cancelled\"},{\"interruptId\":\"i\",\"status\":\"cancelled\"}]"),
            "invalid",
            "resume[1]"),
        Arguments.of(with("\"protocolVersion\":\"2.0\""), "unsupported-version", "1.1"),
        Arguments.of(with("\"protocolVersion\":1"), "invalid", "protocolVersion"),
        Arguments.of(with("\"forwardedProps\":{\"whenBusy\":\"steer\"}"), "invalid", "steer"),
        Arguments.of(with("\"forwardedProps\":{\"whenBusy\":\"dance\"}"), "invalid", "whenBusy"));
  }

  private static String message(String message) {
    return "{\"threadId\":\"t\",\"runId\":\"r\",\"messages\":[" + message + "]}";
  }

  private static String with(String more) {
    return "{" + GOOD + "," + more + "}";
  }

  @ParameterizedTest
  @MethodSource("refused")
  void malformed_input_is_refused_with_its_place_and_leaves_no_trace(
      String body, String code, String named) {
    var reply = testServer.post("/ag-ui/agent-code", body, "Accept", "text/event-stream");

    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(400);
    var json = Json.mapper().readTree(reply.body());
    assertThat(json.path("code").asString()).isEqualTo(code);
    assertThat(json.path("message").asString()).contains(named);
    assertThat(testServer.get("/api/contexts/t").statusCode()).isEqualTo(404);
  }

  @Test
  void what_the_protocol_does_not_know_is_left_out() throws IOException {
    app.messages.addObject().put("id", "x").put("role", "oracle").put("content", 7);
    app.messages.addObject().put("id", "y").put("role", "reasoning").put("content", "hm");
    app.more.put("colour", "blue").put("protocolVersion", "1.9");

    assertThat(app.say("say hi").text()).isEqualTo("hi");
  }

  @Test
  void context_instructions_and_state_are_told_to_the_model_beside_the_words() throws IOException {
    app.messages.addObject().put("id", "s").put("role", "system").put("content", "Be brief.");
    app.more.putArray("context").addObject().put("description", "Page").put("value", "/help");
    app.more.putObject("state").put("colour", "blue");
    app.say("say hi");

    var task = Json.mapper().readTree(testServer.get("/api/contexts/" + thread + "/tasks").body());
    var grounding = task.path("items").path(0).path("metadata").path("grounding");
    assertThat(grounding.valueStream().map(entry -> entry.path("value").asString()))
        .containsExactly("Be brief.", "/help", "{\"colour\":\"blue\"}");
  }

  @Test
  void a_run_id_that_was_used_for_something_else_is_refused() throws IOException {
    var first = app.say("say one");
    app.said("say two");
    var reply = app.refused(input -> input.put("runId", first.runId()));

    assertThat(reply.statusCode()).isEqualTo(409);
  }

  @Test
  void an_agent_that_does_not_exist_is_not_found() {
    var reply = testServer.post("/ag-ui/nobody", "{" + GOOD + "}");

    assertThat(reply.statusCode()).isEqualTo(404);
    assertThat(Json.mapper().readTree(reply.body()).path("code").asString()).isEqualTo("not-found");
    assertThat(testServer.get("/api/contexts/t").statusCode()).isEqualTo(404);
  }

  @Test
  void a_deleted_thread_is_gone() throws IOException {
    app.say("say one");
    testServer.send(testServer.request("/api/contexts/" + thread).DELETE());

    var reply = app.refused(input -> input.put("x", 1));
    assertThat(reply.statusCode()).isEqualTo(410);
  }

  @Test
  void a_thread_of_somebody_else_is_no_thread() throws IOException {
    var wish = TestServer.Wish.USUAL.tokens(token("ann", "a-token"), token("bob", "b-token"));
    try (var guarded = TestServer.open(folder.resolve("guarded"), wish)) {
      var body = "{" + GOOD + "}";
      var mine = guarded.post("/ag-ui/agent-code", body, "Authorization", "Bearer a-token");
      assertThat(mine.statusCode()).isEqualTo(200);
      assertThat(guarded.post("/ag-ui/agent-code", body).statusCode()).isEqualTo(401);
      var theirs = guarded.post("/ag-ui/agent-code", body, "Authorization", "Bearer b-token");
      assertThat(theirs.statusCode()).isEqualTo(404);
      var read =
          guarded.get("/ag-ui/agent-code/threads/t/events", "Authorization", "Bearer b-token");
      assertThat(read.statusCode()).isEqualTo(404);
    }
  }

  private static ApiToken token(String name, String secret) {
    return new ApiToken(name, HexFormat.of().formatHex(Sha256.of(secret)));
  }
}
