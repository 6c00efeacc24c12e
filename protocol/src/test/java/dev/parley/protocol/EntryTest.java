package dev.parley.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The envelope: WORKFLOW-1, WORKFLOW-2, WORKFLOW-10, WORKFLOW-11, EVENT-2, EVENT-3, EVENT-7.
class EntryTest {

  @ParameterizedTest
  @ValueSource(strings = {"kind", "seq", "eventId", "contextId", "timestamp"})
  void an_entry_without_its_envelope_is_refused(String name) {
    var fields = GoldenFile.of(Kind.CONTENT_DELTA).tree();
    fields.remove(name);

    assertThatThrownBy(() -> EventJson.entry(fields))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessage(name + " is missing");
  }

  @ParameterizedTest
  @CsvSource({
    "kind,            1,           kind must be a string",
    "seq,             '\"1\"',     seq must be a whole number",
    "seq,             1.5,         seq must be a whole number",
    "seq,             -1,          a position must not be negative",
    "k,               -1,          a position must not be negative",
    "eventId,         '\"x\"',     eventId must be a UUID",
    "contextId,       1,           contextId must be a string",
    "taskId,          {},          taskId must be a string",
    "agentLevel,      '\"boss\"',  'agentLevel must be one of core, subagent'",
    "traceId,         1,           traceId must be a string",
    "timestamp,       1,           timestamp must be a time such as 2026-11-15T10:30:00.123Z"
  })
  void an_envelope_of_the_wrong_type_is_refused(String name, String value, String message) {
    var fields = GoldenFile.of(Kind.CONTENT_DELTA).tree();
    fields.set(name, Json.mapper().readTree(value));

    assertThatThrownBy(() -> EventJson.entry(fields))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessage(message);
  }

  /// An older reader can distinguish this from invalid JSON and skip it.
  @Test
  void an_unknown_kind_has_a_code_of_its_own() {
    var fields = GoldenFile.of(Kind.CONTENT_DELTA).tree().put("kind", "content-sung");

    assertThatThrownBy(() -> EventJson.entry(fields))
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, r -> assertThat(r.code()).isEqualTo("unknown-kind"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "null", "{", "{} {}", "\"kind\"", "{\"kind\":1,\"kind\":2}"})
  void what_is_not_one_object_is_refused(String json) {
    assertThatThrownBy(() -> EventJson.entry(json.getBytes(UTF_8)))
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, r -> assertThat(r.code()).isEqualTo("invalid-json"));
  }

  @Test
  void an_entry_without_a_task_has_no_origin() {
    var entry = EventJson.entry(GoldenFile.of(Kind.CONTEXT_CREATED).tree());

    assertThat(entry.origin()).isNull();
    assertThat(entry.taskId()).isNull();
  }

  /// EVENT-47: `agentId` of a subtask is the sub-agent, and is missing if no agent was named.
  @Test
  void a_subtask_without_an_agent_does_not_take_its_parents() {
    var event = new SubtaskCreated(new TaskId("task-2"), null, "go");

    assertThat(EventJson.text(entry(event))).doesNotContain("agentId");
  }

  /// EVENT-29: `agentId` of an input is the agent that gave it, not the one that requested it.
  @Test
  void an_input_that_an_agent_gave_names_that_agent() {
    var giver = new AgentTypeId("coordinator");
    var provider = InputEvent.Provider.AGENT;
    var event = new InputReceived(new InputId("input-1"), provider, null, giver, null, null);

    var fields = Json.mapper().readTree(EventJson.bytes(entry(event)));

    assertThat(fields.get("agentId").asString()).isEqualTo("coordinator");
  }

  /// EVENT-7: the fields of an event cannot change its origin.
  @Test
  void an_event_cannot_forge_its_envelope() {
    var forged = Json.object().put("delta", "x").put("index", 0).put("contextId", "other");

    var written = EventJson.text(entry(EventJson.event(Kind.CONTENT_DELTA, forged)));

    assertThat(written).contains("\"contextId\":\"ctx-1\"").doesNotContain("other");
  }

  private static Entry entry(Event event) {
    var like = EventJson.entry(GoldenFile.of(Kind.TASK_STATUS).tree());
    return new Entry(
        like.contextId(), like.position(), like.eventId(), like.timestamp(), like.origin(), event);
  }
}
