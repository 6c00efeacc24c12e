package dev.parley.log;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.util.function.Supplier;

/// Distinguishes damage to one context from failures of the whole store.
final class ContextDamage {

  private ContextDamage() {}

  /// Runs `work`, which reads the stored data of the context.
  ///
  /// @throws Rejection.Damaged if the data cannot be decoded
  static <T> T reportErrors(ContextId context, Supplier<T> work) {
    try {
      return work.get();
    } catch (Rejection known) {
      throw known;
    } catch (RuntimeException unreadable) {
      throw rejection(context, unreadable.toString().lines().findFirst().orElse(""));
    }
  }

  static Rejection.Damaged rejection(ContextId context, String why) {
    return new Rejection.Damaged(
        "the stored data of context %s cannot be read (%s); other contexts are not affected"
            .formatted(context, why));
  }
}
