package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskComplete;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Users answer the questions of tasks, in a chat or with other commands.
@Timeout(60)
class AnswerCommandTest {

  private static final String APPROVAL =
      "{\"contextId\":\"c-1\",\"taskId\":\"task-0001\",\"kind\":\"input\",\"inputId\":\"i-1\","
          + "\"inputType\":\"confirmation\",\"prompt\":\"May coder call shell?\",\"agentId\":"
          + "\"coder\",\"metadata\":{\"toolCall\":{\"toolName\":\"shell\",\"arguments\":"
          + "{\"command\":\"rm -r build\"}},\"preview\":\"$ rm -r build\\n(in /home/me)\"}}";
  private static final String SELECTION =
      "{\"contextId\":\"c-1\",\"kind\":\"input\",\"inputId\":\"i-2\",\"inputType\":\"selection\","
          + "\"prompt\":\"Which?\",\"options\":[\"12\",\"13\"]}";
  private static final String SIGN_IN =
      "{\"contextId\":\"c-1\",\"kind\":\"auth\",\"authId\":\"au-1\",\"authType\":\"api-key\","
          + "\"prompt\":\"A key, please\"}";

  @Test
  void an_approval_is_given_inline() {
    var chat = chat(approval(), "what?\ny\n");

    assertThat(chat.code()).isZero();
    assertThat(chat.screen())
        .contains(
            "? May coder call shell?\n  shell {\"command\":\"ls\"}\n  Runs a command\n  | $ ls\n")
        .contains("[y]es, [n]o, [e]dit: ")
        .contains("y, n, or n and a reason, or e");
    assertThat(chat.requests()).contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":true}");
  }

  @Test
  void a_refusal_can_have_a_reason() {
    assertThat(chat(approval(), "n not on a Friday\n").requests())
        .contains(
            "POST /api/contexts/c-1/inputs/i-1"
                + " {\"value\":{\"approved\":false,\"reason\":\"not on a Friday\"}}");
  }

  @Test
  void arguments_can_be_edited_before_they_are_approved() {
    var chat = chat(approval(), "e\nnonsense\ne\n{\"command\":\"pwd\"}\n");

    assertThat(chat.screen()).contains("That is not a JSON object.");
    assertThat(chat.requests())
        .contains(
            "POST /api/contexts/c-1/inputs/i-1"
                + " {\"value\":{\"approved\":true,\"arguments\":{\"command\":\"pwd\"}}}");
  }

  @Test
  void one_of_several_is_chosen_by_number_or_by_text() {
    var options = List.<JsonNode>of(StringNode.valueOf("red"), StringNode.valueOf("blue"));
    var asked = asked(InputType.SELECTION, "Which?", options, null);

    assertThat(chat(asked, "2\n").requests())
        .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":\"blue\"}");
    assertThat(chat(asked, "red\n").requests())
        .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":\"red\"}");
    assertThat(chat(asked, "red\n").screen()).contains("  1) red\n  2) blue\n");
  }

  @Test
  void an_open_question_takes_text_and_asks_again_if_it_does_not_fit() {
    var asked = asked(InputType.CLARIFICATION, "How many?", null, null);
    try (var server = server(asked)) {
      server.refuse(1);
      var testTerminal = TestTerminal.terminal(server.environment(), "many\n7\n");

      assertThat(testTerminal.run("chat", "hi")).isZero();
      assertThat(testTerminal.out()).contains("that does not fit");
      assertThat(server.requests())
          .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":\"many\"}")
          .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":7}");
    }
  }

  @Test
  void a_key_is_typed_and_sent_and_a_sign_in_elsewhere_is_waited_for() {
    var key = signIn(AuthType.API_KEY, null);
    assertThat(chat(key, "s3cret\n").requests())
        .contains("POST /api/contexts/c-1/auths/au-1 {\"credential\":\"s3cret\"}");
    var elsewhere = chat(signIn(AuthType.OAUTH2, "https://example.org/authorize"), "");
    assertThat(elsewhere.code()).isZero();
    assertThat(elsewhere.screen()).contains("Open https://example.org/authorize");
    assertThat(elsewhere.requests()).noneMatch(request -> request.contains("/auths/"));
  }

  @Test
  void without_a_person_chat_says_how_to_answer_and_leaves_with_a_code_of_its_own() {
    try (var server = server(approval())) {
      var testTerminal = TestTerminal.piped(server.environment());

      assertThat(testTerminal.run("chat", "hi")).isEqualTo(4);
      assertThat(testTerminal.out()).isEmpty();
      assertThat(testTerminal.err())
          .contains("? May coder call shell?")
          .contains("\n  ./parley answer c-1 i-1 yes\n")
          .contains("\n  ./parley answer c-1 i-1 no --reason 'not now'\n");
    }
  }

  @Test
  void the_line_to_copy_finds_the_same_server() {
    try (var server = server(approval())) {
      var testTerminal = TestTerminal.piped(Map.of());
      var url = server.environment().get("PARLEY_URL");

      assertThat(testTerminal.run("chat", "--url", url, "--token", "s3cret", "hi")).isEqualTo(4);
      assertThat(testTerminal.err())
          .contains("\n  ./parley answer c-1 i-1 yes --url " + url + "\n")
          .doesNotContain("s3cret");
    }
  }

  @Test
  void how_to_answer_is_a_line_to_copy_with_an_answer_that_fits() {
    var options = List.<JsonNode>of(StringNode.valueOf("it's red"), StringNode.valueOf("blue"));
    assertThat(hint(asked(InputType.SELECTION, "Which?", options, null)))
        .endsWith("\n  ./parley answer c-1 i-1 'it'\\''s red'\n");
    assertThat(hint(asked(InputType.CLARIFICATION, "How many?", null, null)))
        .endsWith("\n  ./parley answer c-1 i-1 'your answer'\n");
    var schema =
        Json.mapper()
            .readTree(
                """
                {"type": "object", "required": ["seats", "class", "who"],
                 "properties": {"seats": {"type": "integer", "minimum": 2},
                                "class": {"enum": ["first"]}, "who": {"type": "string"}}}\
                """);
    var form =
        new InputRequired(
            new InputId("i-1"), null, InputType.CUSTOM, "Where to?", schema, null, null, null);
    assertThat(hint(form))
        .endsWith(
            """

              ./parley answer c-1 i-1 '{"seats":2,"class":"first","who":"..."}'
              ./parley answer c-1 i-1 --decline
              ./parley answer c-1 i-1 --skip
            """);
    assertThat(hint(signIn(AuthType.API_KEY, null))).endsWith("\n  ./parley answer c-1 au-1\n");
  }

  private static String hint(Event asked) {
    try (var server = server(asked)) {
      var testTerminal = TestTerminal.piped(server.environment());
      assertThat(testTerminal.run("chat", "hi")).isEqualTo(4);
      return testTerminal.err();
    }
  }

  @Test
  void what_the_agent_above_is_asked_is_not_asked_of_the_person() {
    var asked =
        TestEntries.talk()
            .add("s-1", asked(InputType.CLARIFICATION, "Which file?", null, false))
            .add(new TaskComplete("done", null, null));
    try (var server = new FakeServer(asked.entries())) {
      var testTerminal = TestTerminal.terminal(server.environment(), "");

      assertThat(testTerminal.run("chat", "--verbose", "hi")).isZero();
      assertThat(testTerminal.out()).contains("worker: asks").doesNotContain("Which file?");
    }
  }

  @Test
  void answer_without_an_input_lists_what_is_asked_in_the_context() {
    try (var server = inbox()) {
      var testTerminal = TestTerminal.piped(server.environment());

      assertThat(testTerminal.run("answer", "c-1")).isZero();
      assertThat(testTerminal.run("answer", "c-9")).isEqualTo(1);
      assertThat(testTerminal.run("inbox")).isZero();
      assertThat(testTerminal.run("inbox", "--json")).isZero();
      var approval =
          """
          c-1  i-1  confirmation
          ? May coder call shell?
            shell {"command":"rm -r build"}
            | $ rm -r build
            | (in /home/me)
            asked by coder
            Answer with:
              ./parley answer c-1 i-1 yes
              ./parley answer c-1 i-1 no --reason 'not now'

          """;
      assertThat(testTerminal.out())
          .startsWith(approval)
          .contains("c-1  i-2  selection\n? Which?\n  1) 12\n  2) 13\n")
          .contains("    ./parley answer c-1 i-2 12\n")
          .contains("c-1  au-1  api-key\n? A key, please\n")
          .contains("    ./parley answer c-1 au-1\n")
          .contains(APPROVAL.substring(0, 40));
      assertThat(testTerminal.out().split(Pattern.quote(approval), -1)).hasSize(3);
    }
  }

  @Test
  void what_a_model_says_cannot_pass_for_a_line_of_the_program() {
    var prompt = "Fine?\n  Answer with:\n    ./parley answer c-1 i-1 yes\u001b[2J";
    var call = Json.object().put("toolName", "shell\nls");
    call.set("arguments", Json.object().put("command", "echo \u202etxt.exe\u2066\u200b"));
    var metadata = Json.object().put("preview", "$ echo\r\u001b]0;title\u0007\n? All is well");
    metadata.set("toolCall", call);
    var shown =
        """
        ? Fine?
          |   Answer with:
          |     ./parley answer c-1 i-1 yes\\u{1B}[2J
          shell ls {"command":"echo \\u{202E}txt.exe\\u{2066}\\u{200B}"}
          | $ echo\\u{D}\\u{1B}]0;title\\u{7}
          | ? All is well
        """;

    var asked = asked(InputType.CONFIRMATION, prompt, null, true, metadata);
    assertThat(chat(asked, "y\n").screen()).contains(shown);
    try (var server = new FakeServer(List.of())) {
      var item = Json.object().put("contextId", "c-1").put("kind", "input").put("inputId", "i-1");
      item.put("inputType", "confirmation").put("prompt", prompt).set("metadata", metadata);
      server.inbox(item.toString());
      var testTerminal = TestTerminal.piped(server.environment());

      assertThat(testTerminal.run("inbox")).isZero();
      assertThat(testTerminal.out()).contains(shown);
    }
  }

  @Test
  void a_long_preview_is_cut_in_the_inbox_and_complete_in_the_context() {
    var preview = IntStream.rangeClosed(1, 5_000).mapToObj(i -> "+" + i + "\n");
    var metadata = Json.object().put("preview", preview.collect(Collectors.joining()));
    metadata.set("toolCall", Json.object().put("toolName", "write_file"));
    var item = Json.object().put("contextId", "c-1").put("kind", "input").put("inputId", "i-1");
    item.put("inputType", "confirmation").put("prompt", "Write?").set("metadata", metadata);
    try (var server = new FakeServer(List.of())) {
      server.inbox(item.toString());
      var inbox = TestTerminal.piped(server.environment());
      var answer = TestTerminal.piped(server.environment());

      assertThat(inbox.run("inbox")).isZero();
      assertThat(inbox.out())
          .contains("  | +20\n  4980 more lines: ./parley answer c-1 shows all of them\n");
      assertThat(answer.run("answer", "c-1")).isZero();
      assertThat(answer.out()).contains("  | +1\n", "  | +5000\n").doesNotContain("more lines");
    }
  }

  @Test
  void a_question_says_which_answers_fit() {
    var schema = Json.object().put("type", "integer").put("minimum", 3);
    var item = Json.object().put("contextId", "c-1").put("kind", "input").put("inputId", "i-1");
    item.put("inputType", "data").put("prompt", "How many?").set("schema", schema);
    try (var server = new FakeServer(List.of())) {
      server.inbox(item.toString());
      var testTerminal = TestTerminal.piped(server.environment());

      assertThat(testTerminal.run("answer", "c-1")).isZero();
      assertThat(testTerminal.out())
          .contains("  The answer:\n  | whole number. At least 3\n")
          .contains("    ./parley answer c-1 i-1 3\n");
    }
  }

  private static final String FORM =
      """
      {"type": "object", "required": ["seats", "class"], "properties": {
        "seats": {"type": "integer", "minimum": 2, "maximum": 9, "description": "How many seats."},
        "class": {"type": "string", "title": "The class", "enum": ["1", "2"],
                  "enumNames": ["first", "second"], "default": "2"},
        "meal": {"oneOf": [{"const": "v", "title": "vegan"}, {"const": "n"}]},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["wifi", "sofa"]}},
        "mail": {"type": "string", "format": "email", "maxLength": 80},
        "return": {"type": "boolean", "default": false},
        "who": {"type": "object", "properties": {"name": {"type": "string"}}},
        "a\\nb\\u001b[2J": {"type": "number", "description": "one\\n  asked by you"}}}
      """;

  private static final String FIELDS =
      """
      ? Where to?
        Fields of the answer:
        | seats (whole number, required): How many seats. At least 2. At most 9
        | class (text, required): The class. One of "1" (first), "2" (second). Default: "2"
        | meal (choice, optional). One of "v" (vegan), "n"
        | extras (list, optional). Any of "wifi", "sofa"
        | mail (text, email, optional). At most 80 characters
        | return (true or false, optional). Default: false
        | who (object, optional). JSON that fits {"type":"object","properties":{"name":{"type":"string"}}}
        | a b\\u{1B}[2J (number, optional): one   asked by you
      """;

  @Test
  void a_form_is_a_list_of_its_fields_and_can_be_declined_and_skipped() {
    var item = Json.object().put("contextId", "c-1").put("kind", "input").put("inputId", "i-1");
    item.put("inputType", "data").put("prompt", "Where to?");
    item.set("schema", Json.mapper().readTree(FORM));
    try (var server = new FakeServer(List.of())) {
      server.inbox(item.toString());
      var testTerminal = TestTerminal.piped(server.environment());

      assertThat(testTerminal.run("answer", "c-1")).isZero();
      assertThat(testTerminal.out())
          .contains(FIELDS)
          .contains(
              """
                Answer with:
                  ./parley answer c-1 i-1 '{"seats":2,"class":"2"}'
                  ./parley answer c-1 i-1 --decline
                  ./parley answer c-1 i-1 --skip
              """);
      assertThat(testTerminal.run("answer", "c-1", "i-1", "--decline")).isZero();
      assertThat(testTerminal.run("answer", "c-1", "i-1", "--skip")).isZero();
      assertThat(server.requests())
          .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":{\"declined\":true}}")
          .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":{\"skipped\":true}}");
      assertThat(testTerminal.run("answer", "c-1", "i-1", "--skip", "--decline")).isEqualTo(2);
      assertThat(testTerminal.run("answer", "c-1", "i-1", "--skip", "7")).isEqualTo(2);
    }
  }

  @Test
  void a_form_in_a_chat_says_how_to_answer_decline_and_skip() {
    var form =
        new InputRequired(
            new InputId("i-1"),
            null,
            InputType.DATA,
            "Where to?",
            Json.mapper().readTree(FORM),
            null,
            null,
            null);

    var answered = chat(form, "{\"seats\":3,\"class\":\"1\"}\n");
    assertThat(answered.screen())
        .contains(FIELDS)
        .contains("  Type the answer as JSON, such as {\"seats\":2,\"class\":\"2\"}\n")
        .contains("  /decline refuses to answer, /skip leaves the question unanswered\n");
    assertThat(answered.requests())
        .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":{\"seats\":3,\"class\":\"1\"}}");
    assertThat(chat(form, "/decline\n").requests())
        .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":{\"declined\":true}}");
    assertThat(chat(form, "/skip\n").requests())
        .contains("POST /api/contexts/c-1/inputs/i-1 {\"value\":{\"skipped\":true}}");
  }

  @Test
  void an_answer_is_yes_or_no_an_option_json_or_text() {
    try (var server = inbox()) {
      var testTerminal = TestTerminal.piped(server.environment());
      assertThat(testTerminal.run("answer", "c-1", "i-1", "yes")).isZero();
      assertThat(testTerminal.run("answer", "c-1", "i-1", "no", "--reason", "late")).isZero();
      assertThat(testTerminal.run("answer", "c-1", "i-1", "--arguments", "{\"a\":1}")).isZero();
      assertThat(testTerminal.run("answer", "c-1", "i-2", "12")).isZero();
      assertThat(testTerminal.run("answer", "c-1", "i-2", "[1]")).isZero();

      assertThat(testTerminal.out()).contains("Answered: i-1\n", "Answered: i-2\n");
      assertThat(server.requests().stream().filter(request -> request.contains("/inputs/")))
          .containsExactly(
              "POST /api/contexts/c-1/inputs/i-1 {\"value\":true}",
              "POST /api/contexts/c-1/inputs/i-1"
                  + " {\"value\":{\"approved\":false,\"reason\":\"late\"}}",
              "POST /api/contexts/c-1/inputs/i-1"
                  + " {\"value\":{\"approved\":true,\"arguments\":{\"a\":1}}}",
              "POST /api/contexts/c-1/inputs/i-2 {\"value\":\"12\"}",
              "POST /api/contexts/c-1/inputs/i-2 {\"value\":[1]}");
    }
  }

  @Test
  void what_is_no_answer_is_wrong_usage() {
    try (var server = inbox()) {
      var testTerminal = TestTerminal.piped(server.environment());
      assertThat(testTerminal.run("answer", "c-1", "i-1")).isEqualTo(2);
      assertThat(testTerminal.run("answer", "c-1", "i-1", "yes", "--arguments", "[]")).isEqualTo(2);
      assertThat(testTerminal.run("answer", "c-1", "i-1", "maybe", "--reason", "x")).isEqualTo(2);
      assertThat(testTerminal.run("answer", "c-1", "au-1", "s3cret")).isEqualTo(2);
      assertThat(testTerminal.run("answer", "c-1", "au-1", "--skip")).isEqualTo(2);
      assertThat(server.requests()).noneMatch(request -> request.startsWith("POST"));
    }
  }

  @Test
  void a_secret_is_piped_in_and_never_an_argument() {
    try (var server = inbox()) {
      var testTerminal = TestTerminal.piped(server.environment(), "s3cret\n");

      assertThat(testTerminal.run("answer", "c-1", "au-1")).isZero();
      assertThat(server.requests())
          .contains("POST /api/contexts/c-1/auths/au-1 {\"credential\":\"s3cret\"}");
      assertThat(testTerminal.out() + testTerminal.err()).doesNotContain("s3cret");
    }
  }

  @Test
  void a_context_is_taken_back_and_goes_on_from_there() {
    try (var server = inbox()) {
      var testTerminal = TestTerminal.piped(server.environment());
      assertThat(testTerminal.run("rewind", "c-1", "--before", "task-0001")).isZero();
      assertThat(testTerminal.run("rewind", "c-1", "--to", "4", "--message", "again")).isZero();

      assertThat(testTerminal.out())
          .contains("Context c-1 is back at event 4\n", "Sent: task task-0001\n");
      assertThat(server.requests())
          .contains("POST /api/contexts/c-1/rewind {\"beforeTaskId\":\"task-0001\"}")
          .contains("POST /api/contexts/c-1/rewind {\"toSeq\":4}")
          .contains("POST /api/contexts/c-1/messages {\"content\":\"again\"}");
    }
  }

  @Test
  void a_fork_is_named() {
    try (var server = inbox()) {
      var testTerminal = TestTerminal.piped(server.environment());
      assertThat(testTerminal.run("fork", "c-1")).isZero();
      assertThat(testTerminal.run("fork", "c-1", "--at", "17")).isZero();

      assertThat(testTerminal.out()).isEqualTo("c-2\nc-2\n");
      assertThat(server.requests())
          .contains("POST /api/contexts/c-1/fork {}")
          .contains("POST /api/contexts/c-1/fork {\"atSeq\":17}");
    }
  }

  private record Talk(int code, String screen, List<String> requests) {}

  private static Talk chat(Event asked, String typed) {
    try (var server = server(asked)) {
      var testTerminal = TestTerminal.terminal(server.environment(), typed);
      var code = testTerminal.run("chat", "hi");
      return new Talk(code, testTerminal.out(), server.requests());
    }
  }

  private static FakeServer server(Event asked) {
    var completed = new AuthCompleted(new AuthId("au-1"), "local", null);
    return new FakeServer(log(asked, completed));
  }

  private static List<Entry> log(Event asked, Event settled) {
    return TestEntries.of(asked, settled, new TaskComplete("done", null, null));
  }

  private static FakeServer inbox() {
    var server = new FakeServer(List.of());
    server.inbox(APPROVAL + "," + SELECTION + "," + SIGN_IN);
    return server;
  }

  private static InputRequired approval() {
    var call = Json.object().put("toolCallId", "call-1").put("toolName", "shell");
    call.set("arguments", Json.object().put("command", "ls"));
    var metadata = Json.object().put("preview", "$ ls").put("summary", "Runs a command");
    metadata.set("toolCall", call);
    return asked(InputType.CONFIRMATION, "May coder call shell?", null, true, metadata);
  }

  private static InputRequired asked(
      InputType type, String prompt, @Nullable List<JsonNode> options, @Nullable Boolean user) {
    return asked(type, prompt, options, user, null);
  }

  private static InputRequired asked(
      InputType type,
      String prompt,
      @Nullable List<JsonNode> options,
      @Nullable Boolean user,
      @Nullable ObjectNode metadata) {
    return new InputRequired(new InputId("i-1"), user, type, prompt, null, options, metadata, null);
  }

  private static AuthRequired signIn(AuthType type, @Nullable String url) {
    return new AuthRequired(
        new AuthId("au-1"), type, "example", null, "A key, please", url, null, null);
  }
}
