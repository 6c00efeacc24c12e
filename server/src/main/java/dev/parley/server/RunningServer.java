package dev.parley.server;

/// A server that accepts requests until it is closed.
public interface RunningServer extends AutoCloseable {

  /// Returns the URL of the server.
  String url();

  /// Stops within ten seconds: rejects new work, ends streams, stops tasks so that they can be
  /// resumed, then closes everything.
  @Override
  void close();
}
