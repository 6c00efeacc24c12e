package dev.parley.server;

import dev.parley.http.ErrorFormat;
import dev.parley.http.HttpListener;
import dev.parley.http.HttpListener.HttpListenerDependencies;
import dev.parley.http.Route;
import java.time.Duration;
import java.util.List;

/// How a server gets its requests: through a listener of its own, or through that of a cluster node,
/// which is open before the server starts and after it stops.
interface ServerListener extends AutoCloseable {

  /// Creates the listener of a server with these routes and error formats.
  @FunctionalInterface
  interface ListenerFactory {
    ServerListener create(
        HttpListenerDependencies dependencies, List<Route> routes, List<ErrorFormat> errorFormats);
  }

  /// Starts to serve requests.
  void start();

  /// The port that requests arrive at.
  int port();

  /// Serves no new requests, ends all streams, and waits for running requests.
  void drain(Duration patience);

  @Override
  void close();

  /// Creates a listener that only this server uses.
  static ServerListener ownListener(
      HttpListenerDependencies dependencies, List<Route> routes, List<ErrorFormat> errorFormats) {
    var listener = new HttpListener(dependencies, routes, errorFormats);
    return new ServerListener() {
      @Override
      public void start() {
        listener.start();
      }

      @Override
      public int port() {
        return listener.port();
      }

      @Override
      public void drain(Duration patience) {
        listener.drain(patience);
      }

      @Override
      public void close() {
        listener.close();
      }
    };
  }
}
