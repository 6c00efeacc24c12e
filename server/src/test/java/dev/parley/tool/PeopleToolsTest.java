package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

class PeopleToolsTest {

  @TempDir Path folder;

  private Bench bench;

  @BeforeEach
  void open() throws IOException {
    bench = Bench.in(folder);
  }

  @Test
  void a_question_has_the_type_of_its_answer() throws Exception {
    var schema = Json.object().put("type", "object");
    var chosen = Json.object().put("question", "Which?").put("requireUser", true);
    chosen.putArray("options").add("a").add("b");
    var data = Json.object().put("question", "What?");
    data.set("schema", schema);

    var open = asked(Json.object().put("question", "Who?"));
    assertThat(open).isEqualTo(Question.open("Who?", false));
    assertThat(asked(chosen).type()).isEqualTo(InputType.SELECTION);
    assertThat(asked(chosen).options()).extracting(JsonNode::asString).containsExactly("a", "b");
    assertThat(asked(chosen).requireUser()).isTrue();
    assertThat(asked(data).type()).isEqualTo(InputType.DATA);
    assertThat(asked(data).schema()).isEqualTo(schema);
  }

  @Test
  void an_answer_is_handed_on_and_a_lapse_fails() throws Exception {
    var tool = new AskUser();
    var question = new AskUser.Arguments("Who?", null, null, null, null, null);
    var given = bench.answering(new Answer.Given(StringNode.valueOf("me")));
    var lapsed = bench.answering(new Answer.Lapsed("nobody came"));

    assertThat(Bench.done(tool.call(question, given)).toString()).isEqualTo("{\"answer\":\"me\"}");
    assertThat(Bench.failed(tool.call(question, lapsed))).contains("nobody came");
  }

  @Test
  void questions_that_make_no_sense_are_refused() {
    var tool = new AskUser();

    assertThat(
            Bench.failed(
                tool.call(new AskUser.Arguments(" ", null, null, null, null, null), bench)))
        .contains("question");
    var many = Collections.nCopies(101, "x");
    assertThat(
            Bench.failed(
                tool.call(new AskUser.Arguments("?", many, null, null, null, null), bench)))
        .contains("options");
    var wrong = Json.object().put("question", "?").put("options", "a");
    assertThatThrownBy(() -> tool.call(wrong, bench)).hasMessage("options must be an array");
    var numbers = Json.object().put("question", "?");
    numbers.putArray("options").add(1);
    assertThatThrownBy(() -> tool.call(numbers, bench)).hasMessage("options[0] must be a string");
  }

  @Test
  void a_thought_is_made_known() {
    var tool = new Think();
    tool.call(new Think.Arguments("so it is", null, null, null, null, null), bench);
    tool.call(
        new Think.Arguments(
            "maybe", ThoughtType.PLANNING, 0.5, Verbosity.BRIEF, "call-1", Visibility.INTERNAL),
        bench);

    assertThat(bench.thoughts())
        .containsExactly(
            new Thought(ThoughtType.REASONING, Verbosity.NORMAL, "so it is", null),
            new Thought(
                ThoughtType.PLANNING,
                Verbosity.BRIEF,
                "maybe",
                0.5,
                "call-1",
                Visibility.INTERNAL));
    for (var wrong : List.of(-0.1, 1.1, Double.NaN)) {
      assertThat(
              Bench.failed(
                  tool.call(new Think.Arguments("x", null, wrong, null, null, null), bench)))
          .contains("between 0 and 1");
    }
    assertThat(
            Bench.failed(tool.call(new Think.Arguments("", null, null, null, null, null), bench)))
        .contains("thought");
    var type = Json.object().put("thought", "x").put("type", "dream");
    assertThatThrownBy(() -> tool.call(type, bench))
        .hasMessageStartingWith("type must be one of planning, reasoning");
  }

  @Test
  void the_schema_names_choices_and_numbers() {
    var properties = new Think().schema().path("properties");

    assertThat(properties.at("/verbosity/enum").toString())
        .isEqualTo("[\"brief\",\"normal\",\"detailed\"]");
    assertThat(properties.at("/confidence/type").asString()).isEqualTo("number");
  }

  @Test
  void a_sign_in_tells_the_model_only_that_it_worked() {
    var tool = new SignInTool();
    var arguments = new SignInTool.Arguments("api.example.org", null);

    assertThat(tool.call(arguments, bench))
        .isInstanceOfSatisfying(
            ToolResult.NeedsSignIn.class,
            needs -> {
              assertThat(needs.signIn().type()).isEqualTo(AuthType.API_KEY);
              assertThat(needs.signIn().provider()).isEqualTo("api.example.org");
              assertThat(needs.signIn().prompt()).contains("api.example.org");
            });
    var given = bench.answering(new Answer.Given(BooleanNode.TRUE));
    assertThat(Bench.done(tool.call(arguments, given)).toString())
        .isEqualTo("{\"service\":\"api.example.org\",\"signedIn\":true}");
    var lapsed = bench.answering(new Answer.Lapsed("declined"));
    assertThat(Bench.failed(tool.call(arguments, lapsed))).contains("declined");
    assertThat(Bench.failed(tool.call(new SignInTool.Arguments("a b\n", null), bench)))
        .contains("service");
  }

  @Test
  void a_client_tool_is_run_by_a_client() throws Exception {
    var schema = Json.object().put("type", "object");
    var tool = new ClientTool("locate", "Says where the person is.", schema);
    var arguments = Json.object().put("exact", true);

    assertThat(tool.provider()).isEqualTo("client");
    assertThat(tool.permission()).isEqualTo(Tool.Permission.ALLOW);
    assertThat(tool.call(arguments, bench))
        .isInstanceOfSatisfying(
            ToolResult.Needs.class,
            needs -> {
              assertThat(needs.question().type()).isEqualTo(InputType.TOOL_EXECUTION);
              assertThat(needs.question().requireUser()).isTrue();
              assertThat(String.valueOf(needs.question().metadata()))
                  .isEqualTo(
                      "{\"toolCall\":{\"toolCallId\":\"call\",\"toolName\":\"locate\","
                          + "\"arguments\":{\"exact\":true}}}");
            });
    var given = bench.answering(new Answer.Given(Json.object().put("city", "Ulm")));
    assertThat(Bench.done(tool.call(arguments, given)).path("city").asString()).isEqualTo("Ulm");
    var failed = bench.answering(new Answer.Given(Json.object().put("error", "no signal")));
    assertThat(Bench.failed(tool.call(arguments, failed))).isEqualTo("no signal");
    var lapsed = bench.answering(new Answer.Lapsed("no client"));
    assertThat(Bench.failed(tool.call(arguments, lapsed))).contains("no client");
  }

  private Question asked(ObjectNode arguments) throws InterruptedException {
    return ((ToolResult.Needs) new AskUser().call(arguments, bench)).question();
  }
}
