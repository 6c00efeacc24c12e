package dev.parley.log;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.util.function.Supplier;

/// Tells damage to what is stored of one context from trouble with the whole store.
final class Damage {

  private Damage() {}

  /// Does `work`, which reads what is stored of the context.
  ///
  /// @throws Rejection.Damaged if that cannot be understood
  static <T> T told(ContextId context, Supplier<T> work) {
    try {
      return work.get();
    } catch (Rejection known) {
      throw known;
    } catch (RuntimeException unreadable) {
      throw of(context, unreadable.toString().lines().findFirst().orElse(""));
    }
  }

  static Rejection.Damaged of(ContextId context, String why) {
    return new Rejection.Damaged(
        "what is stored of context %s cannot be read (%s); other contexts are not affected"
            .formatted(context, why));
  }
}
