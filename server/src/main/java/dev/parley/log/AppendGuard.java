package dev.parley.log;

import dev.parley.protocol.Position;

/// A condition that must hold for an append to happen.
public sealed interface AppendGuard {

  /// No condition.
  record NoGuard() implements AppendGuard {}

  /// The head of the context is at exactly this position.
  record ExpectedHead(Position head) implements AppendGuard {}

  /// The principal has not used this key in this context before.
  ///
  /// If the key was used with the same body, the append returns the earlier result. If it was used
  /// with another body, the append is rejected. Keys are kept as long as the context.
  record IdempotencyKey(String principal, String key, String bodyHash) implements AppendGuard {}

  /// A guard that always holds.
  static AppendGuard none() {
    return new NoGuard();
  }
}
