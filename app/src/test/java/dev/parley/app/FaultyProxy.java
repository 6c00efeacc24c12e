package dev.parley.app;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// A network between the clients of a port and the server behind it. A test can cut it, or let it
/// hold back all bytes.
///
/// Thread-safe.
final class FaultyProxy implements AutoCloseable {

  private static final int BUFFER = 16 * 1024;
  private static final int CONNECT_MILLIS = 5_000;

  private final int target;
  private final ServerSocket listener;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Object lock = new Object();
  // Guarded by `lock`.
  private Condition condition = Condition.WORKING;

  /// What the network does.
  private enum Condition {
    WORKING,
    /// Connections stay open, but nothing arrives until the network works again.
    STALLED,
    /// There are no connections.
    CUT
  }

  /// Opens a port that leads to `target` on this machine.
  FaultyProxy(int target) {
    this.target = target;
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /// Holds back all bytes, in both directions, also of new connections.
  void stall() {
    change(Condition.STALLED);
  }

  /// Closes all connections, and new ones at once.
  void cut() {
    change(Condition.CUT);
    open.forEach(FaultyProxy::close);
  }

  /// Lets the network work again. Bytes that were held back are delivered.
  void deliver() {
    change(Condition.WORKING);
  }

  /// Lets the network work again for new connections. Bytes that were held back are lost.
  void lose() {
    cut();
    deliver();
  }

  private void change(Condition next) {
    synchronized (lock) {
      condition = next;
      lock.notifyAll();
    }
  }

  private boolean isCut() {
    synchronized (lock) {
      return condition == Condition.CUT;
    }
  }

  /// Waits while bytes are held back.
  private void awaitDelivery() throws IOException {
    synchronized (lock) {
      try {
        while (condition == Condition.STALLED) {
          lock.wait();
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new IOException(interrupted);
      }
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        var client = listener.accept();
        open.add(client);
        Thread.ofVirtual().start(() -> connect(client));
      } catch (IOException closed) {
        // The loop ends if this proxy was closed.
      }
    }
  }

  private void connect(Socket client) {
    var server = new Socket();
    open.add(server);
    try {
      if (isCut()) {
        throw new IOException("cut");
      }
      server.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), target), CONNECT_MILLIS);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    } catch (IOException unreachable) {
      end(client, server);
      return;
    }
    Thread.ofVirtual().start(() -> copy(client, server));
    copy(server, client);
  }

  private void copy(Socket from, Socket to) {
    var buffer = new byte[BUFFER];
    try {
      var in = from.getInputStream();
      var out = to.getOutputStream();
      for (var count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        awaitDelivery();
        out.write(buffer, 0, count);
      }
      awaitDelivery();
      to.shutdownOutput();
    } catch (IOException gone) {
      end(from, to);
      return;
    }
    if (from.isOutputShutdown()) { // The other direction has ended too.
      end(from, to);
    }
  }

  private void end(Socket client, Socket server) {
    open.remove(client);
    open.remove(server);
    close(client);
    close(server);
  }

  private static void close(Closeable closeable) {
    try {
      closeable.close();
    } catch (IOException useless) {
      // It is closed in any case.
    }
  }

  @Override
  public void close() {
    close(listener);
    cut();
  }
}
