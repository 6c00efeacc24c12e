package dev.parley.log;

/// Handles the failure of a thread that the server cannot run without.
///
/// The log survives a crash, while a server without that thread would only keep its callers
/// waiting. A program that consists of a server should report the failure and exit.
@FunctionalInterface
public interface FatalHandler {

  /// Does nothing. The log then rejects appends, and [EventLog#writable] returns false.
  FatalHandler NONE = (_, _) -> {};

  /// Reports that the thread has ended because of `cause` and is not restarted.
  ///
  /// Called once, after all waiting appends were answered. Memory may be exhausted.
  void failed(String thread, Throwable cause);
}
