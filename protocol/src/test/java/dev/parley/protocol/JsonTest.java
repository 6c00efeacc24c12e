package dev.parley.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Messages for callers that send invalid JSON.
class JsonTest {

  record Inner(MessageEvent.Role role, int index) {
    Inner {
      if (index > 9) {
        throw new IllegalArgumentException("an index is at most 9");
      }
    }
  }

  record Outer(
      @Nullable Inner message,
      @Nullable List<Inner> list,
      @Nullable List<String> names,
      @Nullable List<JsonNode> anything,
      @Nullable TaskId task,
      @Nullable TaskState status,
      @Nullable Integer whole,
      @Nullable Long large,
      @Nullable BigDecimal number,
      @Nullable Boolean flag,
      @Nullable String text,
      @Nullable Instant time,
      @Nullable UUID uuid,
      @Nullable ObjectNode object) {}

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"message":{"index":1}}                 | message.role is missing
          {"message":{"role":null,"index":1}}     | message.role is missing
          {"message":{"role":"user"}}             | message.index is missing
          {"message":{"role":"user","index":null}}| message.index is missing
          {"message":{"role":"boss","index":1}}   | message.role must be one of user, assistant, system
          {"message":{"role":"USER","index":1}}   | message.role must be one of user, assistant, system
          {"message":{"role":"","index":1}}       | message.role must be one of user, assistant, system
          {"message":{"role":0,"index":1}}        | message.role must be one of user, assistant, system
          {"message":{"role":"0","index":1}}      | message.role must be one of user, assistant, system
          {"message":{"role":"user","index":10}}  | message: an index is at most 9
          {"message":[]}                          | message must be an object
          {"message":"x"}                         | message must be an object
          {"message":""}                          | message must be an object
          {"list":[{"role":"user","index":1},{}]} | list[1].role is missing
          {"list":[null]}                         | list[0] is missing
          {"list":{}}                             | list must be an array
          {"list":""}                             | list must be an array
          {"names":["a",null]}                    | names[1] is missing
          {"names":["a",2]}                       | names[1] must be a string
          {"names":"a"}                           | names must be an array
          {"task":7}                              | task must be a string
          {"task":""}                             | task must be 1 to 128 characters of A-Z a-z 0-9 . _ : -
          {"task":"../etc"}                       | task must be 1 to 128 characters of A-Z a-z 0-9 . _ : -
          {"task":{}}                             | task must be a string
          {"whole":1.5}                           | whole must be a whole number
          {"whole":1.0}                           | whole must be a whole number
          {"whole":"1"}                           | whole must be a whole number
          {"whole":""}                            | whole must be a whole number
          {"whole":true}                          | whole must be a whole number
          {"whole":[1]}                           | whole must be a whole number
          {"whole":2147483648}                    | whole is out of range
          {"whole":99999999999999999999999999}    | whole is out of range
          {"large":9223372036854775808}           | large is out of range
          {"large":"9"}                           | large must be a whole number
          {"number":"1.5"}                        | number must be a number
          {"number":false}                        | number must be a number
          {"flag":"true"}                         | flag must be true or false
          {"flag":1}                              | flag must be true or false
          {"text":1}                              | text must be a string
          {"text":1.5}                            | text must be a string
          {"text":true}                           | text must be a string
          {"text":["a"]}                          | text must be a string
          {"text":{}}                             | text must be a string
          {"time":1700000000}                     | time must be a time such as 2026-11-15T10:30:00.123Z
          {"time":"yesterday"}                    | time must be a time such as 2026-11-15T10:30:00.123Z
          {"uuid":"1-1-1-1-1"}                    | uuid must be a UUID
          {"uuid":5}                              | uuid must be a UUID
          {"object":[]}                           | object must be an object
          {"object":"{}"}                         | object must be an object
          {"status":"done"}                       | status must be one of submitted, working, \
          waiting-input, waiting-auth, waiting-subtask, completed, failed, canceled
          """)
  void what_does_not_fit_is_refused_in_plain_words(String json, String message) {
    assertThat(refused(json)).hasMessage(message);
    var tree = (ObjectNode) Json.mapper().readTree(json);
    assertThatThrownBy(() -> Json.read(tree, Outer.class))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessage(message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "null", "1", "\"{}\"", "", "  ", "true"})
  void what_is_not_an_object_is_refused(String json) {
    assertThat(refused(json)).hasMessage("a JSON object is needed");
    assertThat(refused(json).code()).isEqualTo("invalid-json");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"text":"a"          | this is not JSON: see line 1, column 12
          {text:1}             | this is not JSON: see line 1, column 2
          {"text":"a",}        | this is not JSON: see line 1, column 13
          {"text":nul}         | this is not JSON: see line 1, column 9
          {"text":01}          | this is not JSON: see line 1, column 10
          {"text":"\\x"}        | this is not JSON: see line 1, column 11
          {"text":"a","text":1}| a field occurs twice: see line 1, column 19
          {"x":1,"x":1}        | a field occurs twice: see line 1, column 11
          {} {}                | there is more than one JSON value
          """)
  void what_is_not_json_is_refused_with_its_place(String json, String message) {
    assertThat(refused(json)).hasMessage(message);
    assertThat(refused(json).code()).isEqualTo("invalid-json");
  }

  @Test
  void bad_utf_8_is_refused() {
    var bytes = "{\"text\":\"a\"}".getBytes(UTF_8);
    bytes[9] = (byte) 0xff;

    assertThatThrownBy(() -> Json.read(bytes, Outer.class))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageStartingWith("this is not JSON");
  }

  @Test
  void absurd_nesting_is_refused() {
    assertThat(refused("{\"object\":" + "{\"a\":".repeat(100_000)))
        .hasMessage("this JSON is nested too deeply, or a part of it is too long");
  }

  /// Otherwise one request could make a log unreadable.
  @ParameterizedTest
  @ValueSource(ints = {1, 100, 200})
  void what_was_taken_in_can_be_read_again_from_inside_an_event(int depth) {
    var arguments = "{\"a\":".repeat(depth) + "9.9" + "9".repeat(990) + "e-77" + "}".repeat(depth);
    var taken = Json.read(arguments.getBytes(UTF_8), ObjectNode.class);
    var event =
        new ToolEvent.ToolStart(new ToolCallId("c"), "t", taken, null, null, null, null, null);

    assertThat(EventJson.event(Kind.TOOL_START, EventJson.payload(event))).isEqualTo(event);
  }

  @Test
  void an_absurd_number_is_refused() {
    assertThat(refused("{\"number\":" + "9".repeat(100_000) + "}"))
        .hasMessage("this JSON is nested too deeply, or a part of it is too long");
  }

  @Test
  void an_id_that_is_refused_has_the_code_for_that() {
    assertThat(refused("{\"task\":\"a b\"}").code()).isEqualTo("invalid-id");
  }

  @Test
  void a_list_of_anything_may_hold_null() {
    var read = Json.read("{\"anything\":[null,1]}".getBytes(UTF_8), Outer.class);

    assertThat(Json.bytes(read)).asString(UTF_8).isEqualTo("{\"anything\":[null,1]}");
  }

  @Test
  void a_whole_number_is_a_number() {
    assertThat(Json.read("{\"number\":3}".getBytes(UTF_8), Outer.class).number())
        .isEqualTo(BigDecimal.valueOf(3));
  }

  @ParameterizedTest
  @ValueSource(strings = {"980.00", "0.12345678901234567890123", "1E+400", "18446744073709551616"})
  void a_number_in_a_free_form_object_keeps_every_digit(String number) {
    var json = "{\"object\":{\"a\":" + number + "}}";

    var read = Json.read(json.getBytes(UTF_8), Outer.class);

    assertThat(Json.bytes(read)).asString(UTF_8).isEqualTo(json);
  }

  private static Rejection.Invalid refused(String json) {
    var refused =
        catchThrowableOfType(
            Rejection.Invalid.class, () -> Json.read(json.getBytes(UTF_8), Outer.class));
    assertThat(refused).as(json).isNotNull();
    return refused;
  }
}
