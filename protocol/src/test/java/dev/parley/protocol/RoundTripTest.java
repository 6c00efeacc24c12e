package dev.parley.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/// An event that is written and read again is equal to the original.
class RoundTripTest {

  private static final int EVENTS = 100;

  @ParameterizedTest
  @EnumSource
  void an_event_that_was_written_and_read_is_the_same(Kind kind) {
    var events = new RandomEvents(kind.code());
    for (var i = 0; i < EVENTS; i++) {
      var event = events.event(kind);

      assertThat(EventJson.event(kind, EventJson.payload(event))).isEqualTo(event);
    }
  }

  @ParameterizedTest
  @EnumSource
  void an_entry_that_was_written_and_read_is_the_same(Kind kind) {
    var events = new RandomEvents(-kind.code());
    for (var i = 0; i < EVENTS; i++) {
      var entry = events.entry(events.event(kind));

      assertThat(EventJson.entry(EventJson.bytes(entry))).isEqualTo(asRead(entry));
    }
  }

  /// EVENT-1 and EVENT-60: one JSON object on one line, in valid UTF-8, so that it fits into an SSE
  /// frame.
  @Test
  void an_entry_is_one_line_of_valid_utf_8() throws CharacterCodingException {
    var events = new RandomEvents(60);
    for (var i = 0; i < 10 * EVENTS; i++) {
      var bytes = EventJson.bytes(events.entry());

      var text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      assertThat(text).doesNotContain("\n").doesNotContain("\r").startsWith("{").endsWith("}");
    }
  }

  /// DESIGN §3: no nulls except inside free-form values.
  @Test
  void no_field_of_an_entry_is_null() {
    var events = new RandomEvents(3);
    for (var i = 0; i < 10 * EVENTS; i++) {
      var fields = Json.mapper().readTree(EventJson.bytes(events.entry()));

      assertThat(fields).noneMatch(field -> field.isNull());
    }
  }

  @Test
  void a_result_of_null_is_no_result() {
    var nothing = NullNode.getInstance();
    var call = new ToolCallId("call-1");
    var event = new ToolComplete(call, "clock", true, nothing, null, null, null, null);

    assertThat(new String(EventJson.payload(event), UTF_8))
        .isEqualTo("{\"toolCallId\":\"call-1\",\"toolName\":\"clock\",\"success\":true}");
  }

  /// The deltas and the envelope are encoded by hand, for speed: the result must equal that of
  /// Jackson.
  @Test
  void a_delta_written_by_hand_is_what_jackson_writes() {
    var events = new RandomEvents(4);
    for (var i = 0; i < 10 * EVENTS; i++) {
      var delta = (ContentDelta) events.event(Kind.CONTENT_DELTA);

      var byHand = Json.mapper().readTree(EventJson.payload(delta));

      assertThat(byHand).isEqualTo(Json.mapper().readTree(Json.bytes(delta)));
    }
  }

  @Test
  void an_envelope_written_by_hand_is_what_jackson_writes() {
    var events = new RandomEvents(5);
    for (var i = 0; i < 10 * EVENTS; i++) {
      var entry = events.entry(events.event(Kind.CONTENT_DELTA));

      var byHand = Json.mapper().readTree(EventJson.bytes(entry));

      assertThat(byHand).isEqualTo(byJackson(entry));
    }
  }

  private static ObjectNode byJackson(Entry entry) {
    var tree = Json.object().put("kind", entry.kind().wire());
    tree.put("seq", entry.position().seq());
    if (entry.position().k() > 0) {
      tree.put("k", entry.position().k());
    }
    tree.put("eventId", entry.eventId().toString());
    tree.put("contextId", entry.contextId().value());
    tree.put("timestamp", Timestamps.format(entry.timestamp()));
    if (entry.origin() != null) {
      tree.setAll((ObjectNode) Json.mapper().readTree(Json.bytes(entry.origin())));
    }
    tree.setAll((ObjectNode) Json.mapper().readTree(Json.bytes(entry.event())));
    return (ObjectNode) Json.mapper().readTree(Json.bytes(tree));
  }

  /// If an event has its own agent (EVENT-29, EVENT-47), its JSON does not contain the task's agent.
  private static Entry asRead(Entry entry) {
    var origin = entry.origin();
    if (origin == null
        || !(entry.event() instanceof SubtaskCreated || entry.event() instanceof InputReceived)) {
      return entry;
    }
    var read =
        new Origin(
            origin.taskId(),
            origin.parentTaskId(),
            origin.rootTaskId(),
            new AgentTypeId("unknown"),
            origin.agentLevel(),
            origin.invocationId(),
            origin.spawnedByCallId(),
            origin.traceId());
    return new Entry(
        entry.contextId(),
        entry.position(),
        entry.eventId(),
        entry.timestamp(),
        read,
        entry.event());
  }
}
