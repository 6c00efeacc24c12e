package dev.parley.log;

/// Called when a thread has failed that the server cannot do without.
///
/// The log survives a crash, and a server without that thread would only keep its callers waiting: a
/// program that consists of a server should report the failure and exit.
@FunctionalInterface
public interface FatalHandler {

  /// Does nothing: the log then refuses appends, and [EventLog#writable] is false.
  FatalHandler NONE = (_, _) -> {};

  /// The thread has ended because of `cause` and is not started again.
  ///
  /// Called once, after all appends that waited were answered. Memory may be exhausted.
  void failed(String thread, Throwable cause);
}
