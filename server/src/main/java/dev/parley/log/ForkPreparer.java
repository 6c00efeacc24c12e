package dev.parley.log;

import dev.parley.log.PendingAppend.PreparedFork;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;

/// Computes the state of a context at an earlier seq, so that a fork can begin there.
///
/// The state at the head is in memory. An earlier state is folded from the nearest state that was
/// stored with the segments. There is a stored state every so many events, so the cost does not
/// depend on the length of the context.
final class ForkPreparer {

  private static final int PAGE = 512;

  private final ReaderThreads readerThreads;
  private final EntryReader entryReader;

  ForkPreparer(ReaderThreads readerThreads, EntryReader slots) {
    this.readerThreads = readerThreads;
    this.entryReader = slots;
  }

  /// @throws Rejection.Invalid if the source has no public event `atSeq`
  PreparedFork prepare(CachedContext source, long atSeq) {
    source.lock.lock();
    try {
      source.checkExists();
      var durable = source.durableState();
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

  private PreparedFork fold(CachedContext source, long atSeq) {
    var saved = readerThreads.readPage(reader -> reader.stateBefore(source, atSeq));
    var state = saved.map(SavedState::restore).orElseGet(ContextState::new);
    var millis = saved.map(SavedState::lastMillis).orElse(0L);
    while (true) {
      var page = entryReader.after(source, state.head(), PAGE);
      if (page.isEmpty()) {
        // The context was deleted meanwhile: entries disappear for no other reason.
        source.checkExists();
        throw new IllegalStateException(source.id + " ends before " + atSeq);
      }
      for (var storedEntry : page) {
        var entry = storedEntry.entry();
        if (entry.position().seq() > atSeq) {
          return fork(source, state, millis);
        }
        state.apply(entry.origin(), entry.event(), entry.position());
        millis = entry.timestamp().toEpochMilli();
      }
    }
  }

  private static PreparedFork fork(CachedContext source, ContextState state, long millis) {
    return new PreparedFork(source, sharedRanges(source, state.head()), state, millis);
  }

  /// The ranges that a fork of `source` shares if its last shared position is `cut`.
  private static List<SharedRange> sharedRanges(CachedContext source, Position cut) {
    var shares = new ArrayList<SharedRange>();
    for (var sharedRange : source.sharedRanges) {
      if (!cut.after(sharedRange.last())) {
        shares.add(
            new SharedRange(sharedRange.number(), sharedRange.ids(), sharedRange.cipher(), cut));
        return shares;
      }
      shares.add(sharedRange);
    }
    shares.add(new SharedRange(source.number, source.ids, source.cipher, cut));
    return shares;
  }
}
