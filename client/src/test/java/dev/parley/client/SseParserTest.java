package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.SseParser.SseFrame;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SseParserTest {

  private static final String STREAM =
      "\uFEFF: hello\n"
          + "event: stream-open\ndata: {\"position\":\"0\"}\nretry: 250\n\n"
          + "id: 1\r\nevent: content-delta\r\ndata: {\"delta\":\"wörd 語 🦜\"}\r\n\r\n"
          + "id: 2\revent: x\rdata: one\rdata:two\rdata\r\r"
          + ": heartbeat\nid: 2\n\n"
          + "unknown: field\nid:3\ndata:  padded \n\n"
          + "id: 4\ndata: cut off";

  private static final List<SseFrame> FRAMES =
      List.of(
          new SseFrame(null, "stream-open", "{\"position\":\"0\"}", Duration.ofMillis(250)),
          new SseFrame("1", "content-delta", "{\"delta\":\"wörd 語 🦜\"}", null),
          new SseFrame("2", "x", "one\ntwo\n", null),
          new SseFrame("2", "message", "", null),
          new SseFrame("3", "message", " padded ", null));

  @Test
  void a_stream_reads_the_same_wherever_it_is_cut() {
    var bytes = STREAM.getBytes(StandardCharsets.UTF_8);
    for (var cut = 0; cut <= bytes.length; cut++) {
      assertThat(parse(bytes, cut)).as("cut at %d", cut).isEqualTo(FRAMES);
    }
  }

  @Test
  void a_stream_reads_the_same_byte_by_byte() {
    var frames = new ArrayList<SseFrame>();
    var parser = new SseParser(1000, frames::add);
    for (var b : STREAM.getBytes(StandardCharsets.UTF_8)) {
      parser.feed(new byte[] {b}, 1);
    }

    assertThat(frames).isEqualTo(FRAMES);
  }

  @Test
  void noise_is_read_or_refused_and_never_anything_else() {
    var random = new Random(7);
    var alphabet =
        "data: id:event\n\r:{}\"\u00e9\u0000 retry9\n\n".getBytes(StandardCharsets.UTF_8);
    for (var round = 0; round < 2000; round++) {
      var bytes = new byte[random.nextInt(200)];
      for (var i = 0; i < bytes.length; i++) {
        bytes[i] = alphabet[random.nextInt(alphabet.length)];
      }
      var whole = outcome(bytes, bytes.length);

      assertThat(outcome(bytes, random.nextInt(bytes.length + 1))).isEqualTo(whole);
    }
  }

  @Test
  void a_frame_that_is_too_large_is_refused() {
    var parser = new SseParser(100, _ -> {});
    var line = ("data: " + "x".repeat(30) + "\n").getBytes(StandardCharsets.UTF_8);

    assertThatThrownBy(
            () -> {
              for (var i = 0; i < 10; i++) {
                parser.feed(line, line.length);
              }
            })
        .isInstanceOf(BadAnswer.class)
        .hasMessageContaining("more than 100 bytes");
  }

  @Test
  void a_line_without_end_is_refused() {
    var parser = new SseParser(100, _ -> {});

    assertThatThrownBy(() -> parser.feed(new byte[101], 101)).isInstanceOf(BadAnswer.class);
  }

  @Test
  void bytes_that_are_not_utf_8_are_refused_rather_than_replaced() {
    var parser = new SseParser(100, _ -> {});
    var bytes = new byte[] {'d', 'a', 't', 'a', ':', (byte) 0xC3, '\n'};

    assertThatThrownBy(() -> parser.feed(bytes, bytes.length))
        .isInstanceOf(BadAnswer.class)
        .hasMessageContaining("UTF-8");
  }

  private static List<SseFrame> parse(byte[] bytes, int cut) {
    var frames = new ArrayList<SseFrame>();
    var parser = new SseParser(1000, frames::add);
    parser.feed(bytes, cut);
    var rest = Arrays.copyOfRange(bytes, cut, bytes.length);
    parser.feed(rest, rest.length);
    return frames;
  }

  private static Object outcome(byte[] bytes, int cut) {
    try {
      return parse(bytes, cut);
    } catch (BadAnswer refused) {
      return refused.getMessage();
    }
  }
}
