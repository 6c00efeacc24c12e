package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SseStreamReaderTest {

  private static final int EVENTS = 50;

  private final ReaderTotals readerTotals = new ReaderTotals();

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 33, 100, 1_000, 1_000_000})
  void however_the_bytes_are_cut_every_event_counts_once(int size) {
    assertThat(read(false, size)).isEqualTo(EVENTS);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 33, 100, 1_000, 1_000_000})
  void a_thorough_reader_counts_and_times_the_same(int size) {
    assertThat(read(true, size)).isEqualTo(EVENTS);
    assertThat(readerTotals.times().count()).isEqualTo(EVENTS);
    assertThat(readerTotals.missing()).isZero();
  }

  private long read(boolean thorough, int size) {
    var wire = new SseStreamReader("/", 1, thorough, readerTotals);
    var all = stream().getBytes(StandardCharsets.US_ASCII);
    var kept = new byte[0];
    for (var from = 0; from < all.length; from += size) {
      var to = Math.min(all.length, from + size);
      var bytes = Arrays.copyOf(kept, kept.length + to - from);
      System.arraycopy(all, from, bytes, kept.length, to - from);
      wire.received(bytes, kept.length, bytes.length);
      kept = Arrays.copyOfRange(bytes, bytes.length - wire.bytesToKeep(), bytes.length);
    }
    return readerTotals.received();
  }

  /// The format of Jetty: each write is a chunk with one or more frames.
  private static String stream() {
    var text = new StringBuilder("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    chunk(text, "retry: 1000\nid: 0\nevent: stream-open\ndata: {}\n\n");
    for (var i = 1; i <= EVENTS; i += 2) {
      chunk(text, frame(i) + frame(i + 1));
    }
    return text.toString();
  }

  private static String frame(int id) {
    return "id: " + id + "\nevent: content-delta\ndata: {\"delta\":\"" + id + "\"}\n\n";
  }

  private static void chunk(StringBuilder text, String frames) {
    text.append(Integer.toHexString(frames.length())).append("\r\n").append(frames).append("\r\n");
  }
}
