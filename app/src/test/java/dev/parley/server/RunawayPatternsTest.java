package dev.parley.server;

import static dev.parley.server.EmbeddedTestServer.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.NewMessage;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Patterns and schemas that take for ever in a matcher that tries all combinations.
@Timeout(60)
class RunawayPatternsTest {

  private static final String GLOB = "*?*?*?*?*?*?*?*?*?*?*?*?*?*?Z";
  private static final String PATTERN = "^" + ".*.".repeat(9) + "Z$";

  @TempDir Path folder;

  private EmbeddedTestServer talk;

  @BeforeEach
  void start() throws IOException {
    Files.writeString(folder.resolve("a".repeat(50)), "text");
    Files.writeString(folder.resolve("b".repeat(40) + "Z"), "text");
    var agent = AgentConfig.of("clerk", "Helps", "files", "ask_user");
    talk = new EmbeddedTestServer(config(folder, agent), TestServer.MODULES);
  }

  @AfterEach
  void stop() {
    talk.close();
  }

  @Test
  void a_pattern_of_names_with_many_wildcards_is_matched_at_once() throws InterruptedException {
    assertThat(use("list_files", Json.object().put("pattern", GLOB)))
        .contains("b".repeat(40) + "Z")
        .doesNotContain("a".repeat(50));
    assertThat(use("search_files", Json.object().put("text", "text").put("pattern", GLOB)))
        .contains("b".repeat(40) + "Z")
        .doesNotContain("a".repeat(50));
  }

  @Test
  void a_pattern_of_names_that_is_too_long_is_refused() throws InterruptedException {
    assertThat(use("list_files", Json.object().put("pattern", "*a".repeat(1_000))))
        .contains("pattern may have at most 1000 characters");
  }

  @Test
  void an_answer_is_checked_against_a_pattern_with_many_repetitions_at_once()
      throws InterruptedException {
    var asked = ask(Json.object().put("type", "string").put("pattern", PATTERN));

    assertThatThrownBy(() -> answer(asked, StringNode.valueOf("a".repeat(45))))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("does not fit");
    answer(asked, StringNode.valueOf("a".repeat(45) + "Z"));

    talk.until(entry -> entry.event() instanceof InputReceived);
  }

  @Test
  void names_of_properties_are_checked_against_patterns_at_once() throws InterruptedException {
    var schema = Json.object().put("type", "object").put("additionalProperties", false);
    schema.putObject("patternProperties").putObject(PATTERN);
    var asked = ask(schema);

    assertThatThrownBy(() -> answer(asked, Json.object().put("a".repeat(45), 1)))
        .isInstanceOf(Rejection.Invalid.class);
    answer(asked, Json.object().put("a".repeat(45) + "Z", 1));
  }

  @Test
  void what_usual_patterns_mean_is_kept() throws InterruptedException {
    var schema = Json.object().put("type", "string");
    var asked = ask(schema.put("pattern", "^[\\u0041-\\u0046]\\d{3}-\\p{L}+(\\/\\w{2}){2}$"));

    assertThatThrownBy(() -> answer(asked, StringNode.valueOf("A123-ü/ab/cd\n")))
        .isInstanceOf(Rejection.Invalid.class);
    answer(asked, StringNode.valueOf("A123-ü/ab/cd"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "^(?=.*a).*$",
        "(a)\\1",
        "a*+b",
        "((a{100}){100}){100}",
        "((((((x{9}){9}){9}){9}){9}){9}){9}",
        "(",
        "[[:alpha:](]"
      })
  void a_question_with_a_pattern_that_cannot_be_checked_is_refused(String pattern)
      throws InterruptedException {
    var schema = Json.object();
    schema.putObject("properties").putObject("name").put("pattern", pattern);

    assertThat(use("ask_user", question(schema)))
        .contains("the pattern " + pattern + " cannot be used");
  }

  @Test
  void a_schema_that_refers_to_itself_without_end_does_not_run_away() throws InterruptedException {
    var schema = Json.object();
    var all = schema.putArray("allOf");
    all.addObject().put("$ref", "#");
    all.addObject().put("$ref", "#");
    var asked = ask(schema);

    assertThatThrownBy(() -> answer(asked, StringNode.valueOf("a")))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("too many steps");
  }

  @Test
  void a_schema_whose_references_double_at_every_level_does_not_run_away()
      throws InterruptedException {
    var schema = Json.object().put("$ref", "#/$defs/d0");
    var definitions = schema.putObject("$defs");
    for (var i = 0; i < 60; i++) {
      var both = definitions.putObject("d" + i).putArray("anyOf");
      both.addObject().put("$ref", "#/$defs/d" + (i + 1));
      both.addObject().put("$ref", "#/$defs/d" + (i + 1));
    }
    definitions.putObject("d60").put("type", "integer");
    var asked = ask(schema);

    assertThatThrownBy(() -> answer(asked, StringNode.valueOf("a")))
        .isInstanceOf(Rejection.Invalid.class);
  }

  @Test
  void many_patterns_for_a_long_answer_end_within_a_budget() throws InterruptedException {
    var schema = Json.object();
    var all = schema.putArray("allOf");
    for (var i = 0; i < 300; i++) {
      all.addObject().put("pattern", "(x+x+)+y|" + "(.*.*.*)*Z".repeat(20) + i);
    }
    var asked = ask(schema);

    assertThatThrownBy(() -> answer(asked, StringNode.valueOf("x".repeat(100_000))))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("too long to be checked");
  }

  @ParameterizedTest
  @MethodSource("longMessages")
  void a_long_message_of_any_form_is_answered(String message) throws InterruptedException {
    assertThat(talk.answer(talk.say(NewMessage.text(message)))).isNotEmpty();
  }

  /// Messages that made the patterns of the supervisor or of the offline model try all combinations.
  static List<String> longMessages() {
    var many = 200_000;
    return List.of(
        "delegate" + " ".repeat(many) + "x",
        "delegate a" + " to a".repeat(many / 5) + "@",
        "delegate x to" + " ".repeat(many) + ", a",
        "say " + "\"".repeat(many) + "x" + "!".repeat(many),
        "write" + " a to".repeat(many / 5) + " ",
        "please" + " ".repeat(many) + "x");
  }

  private static ObjectNode question(ObjectNode schema) {
    return Json.object().put("question", "Which?").set("schema", schema);
  }

  private String use(String tool, ObjectNode arguments) throws InterruptedException {
    return talk.answer(say(tool, arguments));
  }

  private TaskId say(String tool, ObjectNode arguments) {
    return talk.say(NewMessage.text("use " + tool + " " + arguments));
  }

  private InputId ask(ObjectNode schema) throws InterruptedException {
    say("ask_user", question(schema));
    var asked = talk.until(entry -> entry.event() instanceof InputRequired).getLast().event();
    return ((InputRequired) asked).inputId();
  }

  private void answer(InputId asked, JsonNode value) {
    talk.answer(asked, value);
  }
}
