package dev.parley.bench;

/// Writes tokens durably; one of the contenders that are compared.
interface DurableAppender extends AutoCloseable {

  String name();

  /// Writes one token of a context, and returns when it is durable.
  void append(int context, int index, String text);

  @Override
  void close();
}
