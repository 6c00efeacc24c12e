package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.Sha256;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the clients of `PublicClientsTest` do not check of the API that is compatible with OpenAI:
/// who may do what, repeated requests, errors, and the requests of chat programs.
@Timeout(60)
class OpenAiApiTest {

  private static final String COMPLETIONS = "/v1/chat/completions";
  private static final String RESPONSES = "/v1/responses";
  private static final String[] ADA = {"Authorization", "Bearer ada-secret"};
  private static final String[] BOB = {"Authorization", "Bearer bob-secret"};

  @TempDir static Path folder;
  private static TestServer testServer;

  @BeforeAll
  static void open() {
    var wish = TestServer.Wish.USUAL.tokens(token("ada"), token("bob"));
    testServer = TestServer.open(folder, wish);
  }

  private static ApiToken token(String name) {
    var hash = Sha256.of(name + "-secret");
    return new ApiToken(name, HexFormat.of().formatHex(hash));
  }

  @AfterAll
  static void close() {
    testServer.close();
  }

  // --- who may do what ----------------------------------------------------------------------

  @Test
  void a_caller_without_a_token_gets_an_error_of_openai() {
    var reply = testServer.get("/v1/models");

    assertThat(reply.statusCode()).isEqualTo(401);
    assertThat(error(reply).path("code").asString()).isEqualTo("invalid_api_key");
    assertThat(error(reply).path("type").asString()).isEqualTo("authentication_error");
  }

  @Test
  void nobody_else_sees_continues_cancels_or_deletes_a_response() {
    var response = respond("say hello", ADA);
    var id = response.path("id").asString();
    var conversation = response.path("conversation").path("id").asString();

    assertThat(testServer.get(RESPONSES + "/" + id, ADA).statusCode()).isEqualTo(200);
    assertThat(testServer.get(RESPONSES + "/" + id, BOB).statusCode()).isEqualTo(404);
    assertThat(testServer.get(RESPONSES + "/" + id + "/input_items", BOB).statusCode())
        .isEqualTo(404);
    assertThat(testServer.post(RESPONSES + "/" + id + "/cancel", "", BOB).statusCode())
        .isEqualTo(404);
    assertThat(testServer.send(testServer.request(RESPONSES + "/" + id, BOB).DELETE()).statusCode())
        .isEqualTo(404);
    assertThat(testServer.get("/v1/conversations/" + conversation, BOB).statusCode())
        .isEqualTo(404);
    var next = body("say more").put("previous_response_id", id);
    assertThat(testServer.post(RESPONSES, next.toString(), BOB).statusCode()).isEqualTo(404);
    next = body("say more").put("conversation", conversation);
    assertThat(testServer.post(RESPONSES, next.toString(), BOB).statusCode()).isEqualTo(404);
    assertThat(testServer.get(RESPONSES + "/" + id, ADA).statusCode()).isEqualTo(200);
  }

  @Test
  void only_the_exact_text_of_the_own_question_lets_a_yes_approve() {
    var question = text(complete(ADA, user("run echo approved")));
    var reference = question.substring(question.lastIndexOf("Reference: "));

    // Another text with the same reference, as an agent could be made to write it.
    complete(ADA, user("hello"), assistant("Shall I go on? " + reference), user("yes"));
    assertThat(task(reference)).isEqualTo("waiting-input");
    // The right text, from another caller.
    complete(BOB, user("hello"), assistant(question), user("yes"));
    assertThat(task(reference)).isEqualTo("waiting-input");

    var done = complete(ADA, user("run echo approved"), assistant(question), user("yes"));
    assertThat(text(done)).contains("approved");
    assertThat(task(reference)).isEqualTo("completed");
  }

  private static String task(String reference) {
    var id = reference.substring("Reference: ".length());
    var context = testServer.api.views().contextOf(new TaskId(id));
    var reply = testServer.get("/api/contexts/" + context.orElseThrow() + "/tasks/" + id, ADA);
    return Json.mapper().readTree(reply.body()).path("status").asString();
  }

  // --- repeated requests --------------------------------------------------------------------

  @Test
  void a_request_with_a_key_runs_once_however_often_it_is_sent() {
    var body = completion(user("say one"), assistant("one"), user("say two")).toString();
    String[] keyed = {ADA[0], ADA[1], "Idempotency-Key", "openai-1"};

    var first = testServer.post(COMPLETIONS, body, keyed);
    var second = testServer.post(COMPLETIONS, body, keyed);

    assertThat(json(first)).isEqualTo(json(second));
    var context = new ContextId(first.headers().firstValue("X-Parley-Context").orElseThrow());
    assertThat(
            testServer.api.views().latestMessages(context, 10).stream()
                .map(message -> message.content()))
        .containsExactly("say one", "one", "say two", "two");
    var other = completion(user("say three")).toString();
    assertThat(testServer.post(COMPLETIONS, other, keyed).statusCode()).isEqualTo(409);
  }

  @Test
  void the_stream_of_a_repeated_request_is_the_same_from_its_start() {
    var body = completion(user("count to 4")).put("stream", true).toString();
    String[] keyed = {ADA[0], ADA[1], "Idempotency-Key", "openai-2"};

    var first = chunks(testServer.post(COMPLETIONS, body, keyed));

    assertThat(chunks(testServer.post(COMPLETIONS, body, keyed))).isEqualTo(first);
    assertThat(content(first)).isEqualTo("1 2 3 4");
  }

  @Test
  void an_answer_with_a_key_is_given_once() {
    var asked = respond("ask me which size", ADA);
    var answer = body("large").put("previous_response_id", asked.path("id").asString()).toString();
    String[] keyed = {ADA[0], ADA[1], "Idempotency-Key", "openai-3"};

    var first = json(testServer.post(RESPONSES, answer, keyed));

    assertThat(first.path("output").toString()).contains("large");
    assertThat(json(testServer.post(RESPONSES, answer, keyed))).isEqualTo(first);
  }

  @Test
  void every_number_is_a_place_to_continue_a_stream_at() {
    var id = respond("think about rivers", ADA).path("id").asString();
    var all = chunks(testServer.get(RESPONSES + "/" + id + "?stream=true", ADA));

    assertThat(all.getLast().path("type").asString()).isEqualTo("response.completed");
    for (var i = 0; i < all.size(); i++) {
      assertThat(all.get(i).path("sequence_number").asInt()).isEqualTo(i);
      var rest = RESPONSES + "/" + id + "?stream=true&starting_after=" + i;
      assertThat(chunks(testServer.get(rest, ADA))).isEqualTo(all.subList(i + 1, all.size()));
    }
  }

  // --- what cannot be served ----------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}|model must be the id of an agent",
        "{\"model\":\"gpt-9\",\"messages\":[]}|does not exist",
        "{\"model\":\"agent-code\",\"messages\":[]}|at least one message",
        "{\"model\":\"agent-code\",\"messages\":[{\"role\":\"wizard\"}]}|messages[0].role must be",
        "{\"model\":\"agent-code\",\"n\":2,\"messages\":[{}]}|n must be 1",
        "{\"model\":\"agent-code\",\"messages\":[{\"role\":\"assistant\",\"content\":\"x\"}]}|end with",
        "{\"model\":\"agent-code\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
            + "\"tools\":[{\"type\":\"web_search\"}]}|tools[0].type must be function",
        "{\"model\":\"agent-code\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
            + "\"tool_choice\":\"required\"}|tool_choice must be auto or none",
        "{\"model\":\"agent-code\",\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"call_a_b\","
            + "\"content\":\"x\"}]}|not found",
        "{\"model\":\"agent-code\",\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"other\","
            + "\"content\":\"x\"}]}|Send the ids unchanged"
      })
  void a_request_that_cannot_be_served_says_why(String body, String why) {
    var reply = testServer.post(COMPLETIONS, body, ADA);

    assertThat(reply.statusCode()).isBetween(400, 404);
    assertThat(error(reply).path("message").asString()).contains(why);
    assertThat(error(reply).path("type").asString()).isEqualTo("invalid_request_error");
  }

  @Test
  void a_conversation_that_does_not_exist_is_not_created() {
    var reply =
        testServer.post(RESPONSES, body("say x").put("conversation", "conv_none").toString(), ADA);

    assertThat(reply.statusCode()).isEqualTo(404);
    assertThat(testServer.get("/v1/conversations/conv_none", ADA).statusCode()).isEqualTo(404);
  }

  // --- requests of chat programs ------------------------------------------------------------

  @Test
  void open_webui_lists_models_chats_and_asks_for_a_title() {
    String[] headers = {
      ADA[0], ADA[1], "X-OpenWebUI-User-Name", "Ada", "X-OpenWebUI-Chat-Id", "5f0c", "Accept", "*/*"
    };
    assertThat(json(testServer.get("/v1/models", headers)).path("data").toString())
        .contains("\"id\":\"agent-code\"");
    var chat =
        """
        {"stream":true,"model":"agent-code","stream_options":{"include_usage":true},
         "messages":[{"role":"system","content":"User Context:\\n\\n"},
          {"role":"user","content":[{"type":"text","text":"count to 3"}]}]}
        """;
    var chunks = chunks(testServer.post(COMPLETIONS, chat, headers));
    assertThat(content(chunks)).isEqualTo("1 2 3");
    assertThat(chunks.getLast().path("usage").path("total_tokens").asInt()).isPositive();
    var title =
        """
        {"model":"agent-code","stream":false,"max_completion_tokens":1000,
         "messages":[{"role":"user","content":"### Task:\\nGenerate a concise, 3-5 word title"}]}
        """;
    assertThat(text(json(testServer.post(COMPLETIONS, title, headers)))).isNotBlank();
  }

  @Test
  void libre_chat_chats_with_a_user_and_settings_that_agents_do_not_have() {
    var chat =
        """
        {"model":"agent-code","temperature":1,"top_p":1,"presence_penalty":0,"frequency_penalty":0,
         "user":"66f1","stream":true,"stream_options":{"include_usage":true},
         "messages":[{"role":"system","content":"You are ChatGPT."},
          {"role":"user","content":"say one"},{"role":"assistant","content":"one"},
          {"role":"user","content":"count to 2"}]}
        """;
    var chunks = chunks(testServer.post(COMPLETIONS, chat, ADA));

    assertThat(content(chunks)).isEqualTo("1 2");
    assertThat(chunks.get(chunks.size() - 2).path("choices").path(0).path("finish_reason"))
        .hasToString("\"stop\"");
  }

  // ------------------------------------------------------------------------------------------

  private static ObjectNode body(String input) {
    return Json.object().put("model", "agent-code").put("input", input);
  }

  private static JsonNode respond(String input, String... headers) {
    return json(testServer.post(RESPONSES, body(input).toString(), headers));
  }

  private static ObjectNode completion(ObjectNode... messages) {
    var body = Json.object().put("model", "agent-code");
    List.of(messages).forEach(body.putArray("messages")::add);
    return body;
  }

  private static JsonNode complete(String[] headers, ObjectNode... messages) {
    return json(testServer.post(COMPLETIONS, completion(messages).toString(), headers));
  }

  private static ObjectNode user(String text) {
    return Json.object().put("role", "user").put("content", text);
  }

  private static ObjectNode assistant(String text) {
    return Json.object().put("role", "assistant").put("content", text);
  }

  private static String text(JsonNode completion) {
    return completion.path("choices").path(0).path("message").path("content").asString();
  }

  private static JsonNode json(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return Json.mapper().readTree(reply.body().getBytes(StandardCharsets.UTF_8));
  }

  private static JsonNode error(HttpResponse<String> reply) {
    return Json.mapper().readTree(reply.body()).path("error");
  }

  /// The JSON of all frames but the last mark.
  private static List<JsonNode> chunks(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return reply
        .body()
        .lines()
        .filter(line -> line.startsWith("data: {"))
        .map(line -> Json.mapper().readTree(line.substring("data: ".length())))
        .toList();
  }

  private static String content(List<JsonNode> chunks) {
    return chunks.stream()
        .map(chunk -> chunk.path("choices").path(0).path("delta").path("content").asString(""))
        .collect(Collectors.joining());
  }
}
