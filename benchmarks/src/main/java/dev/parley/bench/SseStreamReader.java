package dev.parley.bench;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A reader of server-sent events. Events are numbered, so the last number is the count.
///
/// It searches only for the last number (`id: 17` at the start of a line), backwards from the end
/// of the bytes. A thorough reader reads forward and takes the time from each delta's text.
final class SseStreamReader implements StreamReader {

  private static final byte[] ID = "\nid: ".getBytes(StandardCharsets.ISO_8859_1);
  private static final byte[] DELTA = "\"delta\":\"".getBytes(StandardCharsets.ISO_8859_1);

  /// More than the length of `id: ` with any number.
  private static final int MARK_MAX = 32;

  private final byte[] request;
  private final boolean thorough;
  private final ReaderTotals readerTotals;
  private long last = -1;
  private int keep;

  SseStreamReader(String path, int port, boolean thorough, ReaderTotals readerTotals) {
    this.request =
        ("GET "
                + path
                + " HTTP/1.1\r\nHost: 127.0.0.1:"
                + port
                + "\r\n"
                + "Accept: text/event-stream\r\n\r\n")
            .getBytes(StandardCharsets.ISO_8859_1);
    this.thorough = thorough;
    this.readerTotals = readerTotals;
  }

  @Override
  public byte[] request() {
    return request.clone();
  }

  long last() {
    return last;
  }

  @Override
  public int bytesToKeep() {
    return keep;
  }

  @Override
  public byte @Nullable [] received(byte[] bytes, int kept, int to) {
    if (thorough) {
      readForward(bytes, to);
    } else {
      keep = Math.min(to, MARK_MAX);
      for (var at = to - ID.length; at >= 0; at--) {
        if (ByteSearch.at(bytes, at, ID) && ByteSearch.digitsEnd(bytes, at + ID.length, to)) {
          advance(ByteSearch.number(bytes, at + ID.length));
          break;
        }
      }
    }
    return null;
  }

  private void readForward(byte[] bytes, int to) {
    var at = ByteSearch.find(bytes, 0, to, ID);
    var done = at < 0 ? Math.max(0, to - MARK_MAX) : at;
    while (at >= 0) {
      var next = ByteSearch.find(bytes, at + 1, to, ID);
      var end = next < 0 ? to : next;
      var whole = next >= 0 || endsFrame(bytes, to);
      if (!whole) {
        break;
      }
      take(bytes, at, end);
      // The last line break is kept: the next id may begin with it.
      done = next < 0 ? end - 1 : end;
      at = next;
    }
    keep = to - done;
  }

  /// True if the bytes end with the empty line of a frame, maybe followed by the end of an HTTP
  /// chunk.
  private static boolean endsFrame(byte[] bytes, int to) {
    var end = bytes[to - 2] == '\r' ? to - 2 : to;
    return bytes[end - 1] == '\n' && bytes[end - 2] == '\n';
  }

  private void take(byte[] bytes, int at, int end) {
    var id = ByteSearch.number(bytes, at + ID.length);
    if (last >= 0 && id > last + 1) {
      readerTotals.missed();
    }
    advance(id);
    var text = ByteSearch.find(bytes, at, end, DELTA);
    if (text >= 0) {
      readerTotals.recordLatency(ByteSearch.number(bytes, text + DELTA.length));
    }
  }

  private void advance(long id) {
    if (last < 0) {
      readerTotals.opened();
      last = 0;
    }
    if (id > last) {
      readerTotals.received(id - last);
      last = id;
    }
  }
}
