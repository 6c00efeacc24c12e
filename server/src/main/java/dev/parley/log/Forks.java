package dev.parley.log;

import dev.parley.protocol.Rejection;

/// Computes the state of a context at an earlier seq, so that a fork can begin there.
///
/// The state at the head is in memory. An earlier state is folded from the nearest state that was
/// stored with the segments. There is a stored state every so many events, so the cost does not
/// depend on the length of the context.
final class Forks {

  private static final int PAGE = 512;

  private final Readers readers;
  private final SlotReader slots;

  Forks(Readers readers, SlotReader slots) {
    this.readers = readers;
    this.slots = slots;
  }

  /// @throws Rejection.Invalid if the source has no public event `atSeq`
  Fork prepare(LiveContext source, long atSeq) {
    source.lock.lock();
    try {
      source.check();
      var durable = source.durable();
      var head = durable.head().seq();
      if (atSeq < 1 || atSeq > head) {
        throw outOfRange(atSeq, head);
      }
      if (atSeq == head) {
        return fork(source, durable.copy(), source.durableMillis());
      }
    } finally {
      source.lock.unlock();
    }
    return fold(source, atSeq);
  }

  static Rejection outOfRange(long atSeq, long head) {
    return new Rejection.Invalid(
        "invalid-seq", "a context can be forked at 1 to %d, not at %d".formatted(head, atSeq));
  }

  private Fork fold(LiveContext source, long atSeq) {
    var saved = readers.readPage(connection -> StoredStates.before(connection, source, atSeq));
    var state = saved.map(SavedState::restore).orElseGet(ContextState::new);
    var millis = saved.map(SavedState::lastMillis).orElse(0L);
    while (true) {
      var page = slots.after(source, state.head(), PAGE);
      if (page.isEmpty()) {
        // The context was deleted meanwhile: entries disappear for no other reason.
        source.check();
        throw new IllegalStateException(source.id + " ends before " + atSeq);
      }
      for (var slot : page) {
        var entry = slot.entry();
        if (entry.position().seq() > atSeq) {
          return fork(source, state, millis);
        }
        state.apply(entry.origin(), entry.event(), entry.position());
        millis = entry.timestamp().toEpochMilli();
      }
    }
  }

  private static Fork fork(LiveContext source, ContextState state, long millis) {
    return new Fork(source, Share.of(source, state.head()), state, millis);
  }
}
