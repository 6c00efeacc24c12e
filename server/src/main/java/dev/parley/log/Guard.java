package dev.parley.log;

import dev.parley.protocol.Position;

/// What must still hold for an append to happen.
public sealed interface Guard {

  /// Nothing.
  record None() implements Guard {}

  /// The context's last event stands exactly here.
  record At(Position head) implements Guard {}

  /// This key was not used before in this context by this principal.
  ///
  /// Used before with the same body, the append answers as it did then; with another body, it is
  /// refused. Keys are kept as long as the context.
  record Once(String principal, String key, String bodyHash) implements Guard {}

  /// A guard that always holds.
  static Guard none() {
    return new None();
  }
}
