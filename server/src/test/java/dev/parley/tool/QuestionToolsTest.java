package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import dev.parley.tool.ToolContext.ToolThought;
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

class QuestionToolsTest {

  @TempDir Path folder;

  private FakeToolContext fakeToolContext;

  @BeforeEach
  void open() throws IOException {
    fakeToolContext = FakeToolContext.in(folder);
  }

  @Test
  void a_question_has_the_type_of_its_answer() throws Exception {
    var schema = Json.object().put("type", "object");
    var chosen = Json.object().put("question", "Which?").put("requireUser", true);
    chosen.putArray("options").add("a").add("b");
    var data = Json.object().put("question", "What?");
    data.set("schema", schema);

    var open = asked(Json.object().put("question", "Who?"));
    assertThat(open).isEqualTo(ToolQuestion.open("Who?", false));
    assertThat(asked(chosen).type()).isEqualTo(InputType.SELECTION);
    assertThat(asked(chosen).options()).extracting(JsonNode::asString).containsExactly("a", "b");
    assertThat(asked(chosen).requireUser()).isTrue();
    assertThat(asked(data).type()).isEqualTo(InputType.DATA);
    assertThat(asked(data).schema()).isEqualTo(schema);
  }

  @Test
  void an_answer_is_handed_on_and_a_lapse_fails() throws Exception {
    var tool = new AskUserTool();
    var question = new AskUserTool.Arguments("Who?", null, null, null, null, null);
    var given = fakeToolContext.answering(new ToolAnswer.Given(StringNode.valueOf("me")));
    var lapsed = fakeToolContext.answering(new ToolAnswer.Lapsed("nobody came"));

    assertThat(FakeToolContext.done(tool.call(question, given)).toString())
        .isEqualTo("{\"answer\":\"me\"}");
    assertThat(FakeToolContext.failed(tool.call(question, lapsed))).contains("nobody came");
  }

  @Test
  void questions_that_make_no_sense_are_refused() {
    var tool = new AskUserTool();

    assertThat(
            FakeToolContext.failed(
                tool.call(
                    new AskUserTool.Arguments(" ", null, null, null, null, null), fakeToolContext)))
        .contains("question");
    var many = Collections.nCopies(101, "x");
    assertThat(
            FakeToolContext.failed(
                tool.call(
                    new AskUserTool.Arguments("?", many, null, null, null, null), fakeToolContext)))
        .contains("options");
    var wrong = Json.object().put("question", "?").put("options", "a");
    assertThatThrownBy(() -> tool.call(wrong, fakeToolContext))
        .hasMessage("options must be an array");
    var numbers = Json.object().put("question", "?");
    numbers.putArray("options").add(1);
    assertThatThrownBy(() -> tool.call(numbers, fakeToolContext))
        .hasMessage("options[0] must be a string");
  }

  @Test
  void a_thought_is_made_known() {
    var tool = new ThinkTool();
    tool.call(new ThinkTool.Arguments("so it is", null, null, null, null, null), fakeToolContext);
    tool.call(
        new ThinkTool.Arguments(
            "maybe", ThoughtType.PLANNING, 0.5, Verbosity.BRIEF, "call-1", Visibility.INTERNAL),
        fakeToolContext);

    assertThat(fakeToolContext.thoughts())
        .containsExactly(
            new ToolThought(ThoughtType.REASONING, Verbosity.NORMAL, "so it is", null),
            new ToolThought(
                ThoughtType.PLANNING,
                Verbosity.BRIEF,
                "maybe",
                0.5,
                "call-1",
                Visibility.INTERNAL));
    for (var wrong : List.of(-0.1, 1.1, Double.NaN)) {
      assertThat(
              FakeToolContext.failed(
                  tool.call(
                      new ThinkTool.Arguments("x", null, wrong, null, null, null),
                      fakeToolContext)))
          .contains("between 0 and 1");
    }
    assertThat(
            FakeToolContext.failed(
                tool.call(
                    new ThinkTool.Arguments("", null, null, null, null, null), fakeToolContext)))
        .contains("thought");
    var type = Json.object().put("thought", "x").put("type", "dream");
    assertThatThrownBy(() -> tool.call(type, fakeToolContext))
        .hasMessageStartingWith("type must be one of planning, reasoning");
  }

  @Test
  void the_schema_names_choices_and_numbers() {
    var properties = new ThinkTool().schema().path("properties");

    assertThat(properties.at("/verbosity/enum").toString())
        .isEqualTo("[\"brief\",\"normal\",\"detailed\"]");
    assertThat(properties.at("/confidence/type").asString()).isEqualTo("number");
  }

  @Test
  void a_sign_in_tells_the_model_only_that_it_worked() {
    var tool = new SignInTool();
    var arguments = new SignInTool.Arguments("api.example.org", null);

    assertThat(tool.call(arguments, fakeToolContext))
        .isInstanceOfSatisfying(
            ToolResult.NeedsSignIn.class,
            needs -> {
              assertThat(needs.signIn().type()).isEqualTo(AuthType.API_KEY);
              assertThat(needs.signIn().provider()).isEqualTo("api.example.org");
              assertThat(needs.signIn().prompt()).contains("api.example.org");
            });
    var given = fakeToolContext.answering(new ToolAnswer.Given(BooleanNode.TRUE));
    assertThat(FakeToolContext.done(tool.call(arguments, given)).toString())
        .isEqualTo("{\"service\":\"api.example.org\",\"signedIn\":true}");
    var lapsed = fakeToolContext.answering(new ToolAnswer.Lapsed("declined"));
    assertThat(FakeToolContext.failed(tool.call(arguments, lapsed))).contains("declined");
    assertThat(
            FakeToolContext.failed(
                tool.call(new SignInTool.Arguments("a b\n", null), fakeToolContext)))
        .contains("service");
  }

  @Test
  void a_client_tool_is_run_by_a_client() throws Exception {
    var schema = Json.object().put("type", "object");
    var tool = new ClientTool("locate", "Says where the person is.", schema);
    var arguments = Json.object().put("exact", true);

    assertThat(tool.provider()).isEqualTo("client");
    assertThat(tool.permission()).isEqualTo(Tool.Permission.ALLOW);
    assertThat(tool.call(arguments, fakeToolContext))
        .isInstanceOfSatisfying(
            ToolResult.NeedsAnswer.class,
            needsAnswer -> {
              assertThat(needsAnswer.question().type()).isEqualTo(InputType.TOOL_EXECUTION);
              assertThat(needsAnswer.question().requireUser()).isTrue();
              assertThat(String.valueOf(needsAnswer.question().metadata()))
                  .isEqualTo(
                      "{\"toolCall\":{\"toolCallId\":\"call\",\"toolName\":\"locate\","
                          + "\"arguments\":{\"exact\":true}}}");
            });
    var given = fakeToolContext.answering(new ToolAnswer.Given(Json.object().put("city", "Ulm")));
    assertThat(FakeToolContext.done(tool.call(arguments, given)).path("city").asString())
        .isEqualTo("Ulm");
    var failed =
        fakeToolContext.answering(new ToolAnswer.Given(Json.object().put("error", "no signal")));
    assertThat(FakeToolContext.failed(tool.call(arguments, failed))).isEqualTo("no signal");
    var lapsed = fakeToolContext.answering(new ToolAnswer.Lapsed("no client"));
    assertThat(FakeToolContext.failed(tool.call(arguments, lapsed))).contains("no client");
  }

  private ToolQuestion asked(ObjectNode arguments) throws InterruptedException {
    return ((ToolResult.NeedsAnswer) new AskUserTool().call(arguments, fakeToolContext)).question();
  }
}
