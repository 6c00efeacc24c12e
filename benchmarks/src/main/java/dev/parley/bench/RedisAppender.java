package dev.parley.bench;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Redis Streams with `appendfsync always`: a stream for each context.
///
/// All waiting tokens are sent as pipelines on several connections, so that Redis writes many with
/// one fsync; then the answers are read. Each context always uses the same connection.
final class RedisAppender implements DurableAppender {

  private static final int BATCH_MAX = 4_096;
  private static final int CONNECTIONS = 16;

  private final BenchmarkProcess server;
  private final List<Pipeline> pipelines = new ArrayList<>();
  private final WriteQueue<Token> writeQueue;

  private record Token(int context, String command) {}

  /// A connection, and the commands that wait for their answers.
  private static final class Pipeline {
    final Socket socket;
    final InputStream in;
    final ByteArrayOutputStream commands = new ByteArrayOutputStream();
    int waiting;

    Pipeline(int port) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
    }

    void send() throws IOException {
      if (waiting > 0) {
        commands.writeTo(socket.getOutputStream());
        commands.reset();
      }
    }

    /// Reads the answer of each command: `$`, a length, and the id of the entry.
    void receive() throws IOException {
      for (; waiting > 0; waiting--) {
        if (in.read() != '$') {
          throw new IOException("Redis refused a command");
        }
        var length = 0;
        for (var digit = in.read(); digit != '\r'; digit = in.read()) {
          length = 10 * length + digit - '0';
        }
        in.skipNBytes(length + 3);
      }
    }
  }

  RedisAppender(RedisPeer redisPeer, Path folder) throws IOException, InterruptedException {
    var port = RedisPeer.freePort();
    server = redisPeer.start(folder, port);
    for (var i = 0; i < CONNECTIONS; i++) {
      pipelines.add(new Pipeline(port));
    }
    writeQueue = new WriteQueue<>(BATCH_MAX, this::write);
  }

  @Override
  public String name() {
    return "Redis Streams, fsync always";
  }

  @Override
  public void append(int context, int index, String text) {
    var parts = List.of("XADD", "c" + context, "*", "i", Integer.toString(index), "t", text);
    var command = new StringBuilder("*" + parts.size() + "\r\n");
    for (var part : parts) {
      // The sample text is ASCII, so characters are bytes.
      command.append('$').append(part.length()).append("\r\n").append(part).append("\r\n");
    }
    writeQueue.write(new Token(context, command.toString()));
  }

  private void write(List<Token> batch) {
    try {
      for (var token : batch) {
        var pipeline = pipelines.get(token.context() % CONNECTIONS);
        pipeline.commands.writeBytes(token.command().getBytes(StandardCharsets.UTF_8));
        pipeline.waiting++;
      }
      for (var pipeline : pipelines) {
        pipeline.send();
      }
      for (var pipeline : pipelines) {
        pipeline.receive();
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public void close() {
    writeQueue.close();
    try {
      for (var pipeline : pipelines) {
        pipeline.socket.close();
      }
      server.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
