package dev.parley.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The rules of the specification, and the limit.
class ServerSentEventParserTest {

  private final ServerSentEventParser parser = new ServerSentEventParser(100);

  @Test
  void lines_end_with_cr_lf_or_both() throws Exception {
    assertThat(parse("data: a\n\ndata: b\r\rdata: c\r\n\r\ndata: d\r\n\ndata: e\n\r"))
        .containsExactly(event("a"), event("b"), event("c"), event("d"), event("e"));
  }

  @Test
  void the_result_does_not_depend_on_how_the_bytes_are_split() throws Exception {
    var lines =
        List.of("\uFEFFid: 1", "event: note", "data: grüß 😀", "data:", "", "data: x", "", "");
    var text = String.join("\r\n", lines);
    var whole = new ServerSentEventParser(100);
    var expected = parse(whole, text, Integer.MAX_VALUE);

    for (var size = 1; size < 10; size++) {
      assertThat(parse(new ServerSentEventParser(100), text, size)).isEqualTo(expected);
    }
    assertThat(expected)
        .containsExactly(
            new ServerSentEvent("note", "grüß 😀\n", "1"), new ServerSentEvent("", "x", "1"));
  }

  @Test
  void only_one_space_after_the_colon_is_removed_and_a_colon_is_not_required() throws Exception {
    assertThat(parse("data:  a: b\n\ndata\n\n")).containsExactly(event(" a: b"), event(""));
  }

  @Test
  void a_byte_order_mark_counts_only_at_the_start() throws Exception {
    assertThat(parse("\uFEFFdata: a\n\n\uFEFFdata: b\n\n")).containsExactly(event("a"));
  }

  @Test
  void comments_unknown_fields_and_events_without_data_are_skipped() throws Exception {
    assertThat(parse(": ping\n\nevent: lost\n\nfoo: bar\ndata: a\n\n")).containsExactly(event("a"));
  }

  @Test
  void an_event_without_data_moves_the_position() throws Exception {
    assertThat(parse("id: 7\n\n")).isEmpty();

    assertThat(parser.lastEventId()).isEqualTo("7");
  }

  @Test
  void an_id_with_nul_is_ignored_and_an_id_counts_when_its_event_is_complete() throws Exception {
    parse("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid: 3\ndata: c\n");

    assertThat(parser.lastEventId()).isEqualTo("1");
  }

  @Test
  void the_retry_time_must_be_digits() throws Exception {
    parse("retry: 2500\n\nretry: soon\n\nretry: -1\n\n");

    assertThat(parser.retry()).isEqualTo(Duration.ofMillis(2500));
  }

  @Test
  void an_incomplete_last_event_is_no_event_unless_asked_for() throws Exception {
    assertThat(parse("data: a\n")).isEmpty();
    assertThat(parser.endEvent()).isEqualTo(event("a"));
  }

  @Test
  void an_event_has_a_maximum_size() throws Exception {
    assertThatThrownBy(() -> parse("data: " + "x".repeat(200)))
        .isInstanceOf(ResponseTooLargeException.class)
        .hasMessage("an event has more than 100 bytes");
    var lines = new ServerSentEventParser(100);
    assertThatThrownBy(() -> parse(lines, "data: 123456789\n".repeat(20), 10))
        .isInstanceOf(ResponseTooLargeException.class);
  }

  private static ServerSentEvent event(String data) {
    return new ServerSentEvent("", data, null);
  }

  private List<ServerSentEvent> parse(String text) throws ResponseTooLargeException {
    return parse(parser, text, Integer.MAX_VALUE);
  }

  private static List<ServerSentEvent> parse(ServerSentEventParser parser, String text, int size)
      throws ResponseTooLargeException {
    var events = new ArrayList<ServerSentEvent>();
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    for (var from = 0; from < bytes.length; from += Math.min(size, bytes.length - from)) {
      var part = ByteBuffer.wrap(bytes, from, Math.min(size, bytes.length - from));
      for (var event = parser.parse(part); event != null; event = parser.parse(part)) {
        events.add(event);
      }
    }
    return events;
  }
}
