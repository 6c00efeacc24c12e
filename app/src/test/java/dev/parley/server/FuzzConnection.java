package dev.parley.server;

import dev.parley.runtime.ManualTime;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A connection that moves the server's time while it waits for bytes.
///
/// The server hangs if it sends nothing and keeps the connection open, although several hours of its
/// time have passed. Real time counts only as well, so that a slow machine is not a hanging server.
final class FuzzConnection implements AutoCloseable {

  private static final int QUIET_MILLIS = 20;
  private static final Duration STEP = Duration.ofSeconds(20);
  private static final Duration VIRTUAL_MAX = Duration.ofHours(6);
  private static final long REAL_SECONDS_MAX = 120;
  private static final int BYTES_MAX = 1 << 22;

  private static final Pattern LENGTH = Pattern.compile("content-length: (\\d+)");

  /// The number of times that a stream may be quiet until the client has read enough of it.
  private static final int QUIET_MAX = 2;

  /// The head and the body of a reply; both are empty if the server closed the connection.
  record RawReply(String head, String body) {

    int status() {
      return head.startsWith("HTTP/1.1 ") ? Integer.parseInt(head.substring(9, 12)) : 0;
    }

    boolean contains(String text) {
      return head.contains(text) || body.contains(text);
    }
  }

  private final ManualTime time;
  private final Socket socket;
  private final InputStream in;
  private boolean broken;

  FuzzConnection(int port, ManualTime time) throws IOException {
    this.time = time;
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(QUIET_MILLIS);
    // A connection that is reset is forgotten at once. Thousands of connections that wait to be
    // forgotten would slow the server down: it searches the table of connections for approvals.
    socket.setSoLinger(true, 0);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /// Sends bytes, unless the server has closed the connection.
  void send(byte[] bytes) {
    try {
      if (!broken) {
        socket.getOutputStream().write(bytes);
      }
    } catch (IOException closed) {
      broken = true;
    }
  }

  /// Says that no more bytes follow.
  void end() {
    try {
      socket.shutdownOutput();
    } catch (IOException closed) {
      broken = true;
    }
  }

  /// Reads the head of a reply and its body: to its end, or as much of a stream as there is.
  RawReply reply() {
    var head = head();
    if (head.isEmpty() || head.startsWith("HTTP/1.1 101 ")) {
      return new RawReply(head, "");
    }
    var length = LENGTH.matcher(head.toLowerCase(Locale.ROOT));
    if (length.find()) {
      return new RawReply(head, body(Integer.parseInt(length.group(1))));
    }
    return new RawReply(head, head.startsWith("HTTP/1.1 204 ") ? "" : rest(true));
  }

  /// Reads a body of this length; the reply to `HEAD` has none.
  private String body(int length) {
    var bytes = new ByteArrayOutputStream();
    var clock = new Patience();
    while (bytes.size() < length && clock.quiet < QUIET_MAX) {
      var next = readOnce(clock, new byte[Math.min(8_192, length - bytes.size())]);
      if (next != null && next.length == 0) {
        break;
      }
      bytes.writeBytes(next == null ? new byte[0] : next);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private String head() {
    var head = new StringBuilder();
    var clock = new Patience();
    while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
      var next = read(clock, new byte[1]);
      if (next.length == 0) {
        break;
      }
      head.append((char) (next[0] & 0xff));
    }
    return head.toString();
  }

  /// Reads until the server closes the connection, or until a stream is quiet.
  String rest(boolean stream) {
    var bytes = new ByteArrayOutputStream();
    var clock = new Patience();
    while (bytes.size() < BYTES_MAX && (!stream || clock.quiet < QUIET_MAX)) {
      var next = readOnce(clock, new byte[8_192]);
      if (next == null) {
        continue;
      }
      if (next.length == 0) {
        break;
      }
      bytes.writeBytes(next);
      if (stream && new String(next, StandardCharsets.ISO_8859_1).endsWith("\r\n0\r\n\r\n")) {
        break;
      }
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private byte[] read(Patience clock, byte[] buffer) {
    while (true) {
      var read = readOnce(clock, buffer);
      if (read != null) {
        return read;
      }
    }
  }

  /// Null if nothing came; empty at the end.
  private byte @Nullable [] readOnce(Patience clock, byte[] buffer) {
    try {
      var count = in.read(buffer);
      return count <= 0 ? new byte[0] : Arrays.copyOf(buffer, count);
    } catch (SocketTimeoutException quiet) {
      clock.waitedOnce();
      return null;
    } catch (IOException reset) {
      return new byte[0];
    }
  }

  /// How long this connection has waited.
  private final class Patience {
    private final long began = System.nanoTime();
    private Duration moved = Duration.ZERO;
    private int quiet;

    void waitedOnce() {
      quiet++;
      if (moved.compareTo(VIRTUAL_MAX) < 0) {
        time.advance(STEP);
        moved = moved.plus(STEP);
      } else if (System.nanoTime() - began > TimeUnit.SECONDS.toNanos(REAL_SECONDS_MAX)) {
        throw new AssertionError("the server hangs: nothing came for " + moved + " of its time");
      }
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
