package dev.parley.log;

import dev.parley.protocol.Position;

/// A condition that must hold for an append to happen.
public sealed interface Guard {

  /// No condition.
  record None() implements Guard {}

  /// The head of the context is at exactly this position.
  record At(Position head) implements Guard {}

  /// The principal has not used this key in this context before.
  ///
  /// If the key was used with the same body, the append returns the earlier result. If it was used
  /// with another body, the append is rejected. Keys are kept as long as the context.
  record Once(String principal, String key, String bodyHash) implements Guard {}

  /// A guard that always holds.
  static Guard none() {
    return new None();
  }
}
