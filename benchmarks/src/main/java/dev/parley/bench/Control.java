package dev.parley.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/// How readers tell a server what to do: `emit N` makes N events, `memory` asks for the bytes in use.
///
/// The other server speaks it too (`socket-io-server.js`). A server says `ready PORT CONTROL PATH`.
final class Control implements AutoCloseable {

  private final Socket socket;
  private final BufferedReader in;
  private final PrintStream out;

  Control(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  private Control(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    out = new PrintStream(socket.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  void emit(int count) {
    out.print("emit " + count + "\n");
  }

  long memory() throws IOException {
    out.print("memory\n");
    var line = in.readLine();
    if (line == null) {
      throw new IOException("the server has gone");
    }
    return Long.parseLong(line);
  }

  /// Does what comes in, one connection after the other, for ever.
  static void serve(int port, String path, IntConsumer emit, LongSupplier memory)
      throws IOException {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      System.out.println("ready " + port + " " + listener.getLocalPort() + " " + path);
      while (true) {
        try (var control = new Control(listener.accept())) {
          control.obey(emit, memory);
        }
      }
    }
  }

  private void obey(IntConsumer emit, LongSupplier memory) throws IOException {
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      if (line.startsWith("emit ")) {
        emit.accept(Integer.parseInt(line.substring(5)));
      } else {
        out.print(memory.getAsLong() + "\n");
      }
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
