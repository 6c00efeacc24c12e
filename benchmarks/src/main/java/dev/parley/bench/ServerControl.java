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

/// The control connection from readers to a server: `emit N` appends N events, `memory` returns the
/// bytes in use.
///
/// The Node server (`socket-io-server.js`) has the same commands. A server prints
/// `ready PORT CONTROL PATH` when it is ready.
final class ServerControl implements AutoCloseable {

  private final Socket socket;
  private final BufferedReader in;
  private final PrintStream out;

  ServerControl(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  private ServerControl(Socket socket) throws IOException {
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
      throw new IOException("the server has closed the control connection");
    }
    return Long.parseLong(line);
  }

  /// Handles the commands of one connection after another, forever.
  static void serve(int port, String path, IntConsumer emit, LongSupplier memory)
      throws IOException {
    try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      System.out.println("ready " + port + " " + listener.getLocalPort() + " " + path);
      while (true) {
        try (var serverControl = new ServerControl(listener.accept())) {
          serverControl.handleCommands(emit, memory);
        }
      }
    }
  }

  private void handleCommands(IntConsumer emit, LongSupplier memory) throws IOException {
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
