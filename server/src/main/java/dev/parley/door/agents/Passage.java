package dev.parley.door.agents;

import dev.parley.protocol.Entry;
import dev.parley.socket.Volley;
import java.util.List;

/// Consecutive entries of a context, encoded once for all subscribers of an agent; `end` is the
/// position after them.
record Passage(int entries, List<Part> parts, Telling.Place end) {

  Passage {
    parts = List.copyOf(parts);
  }

  /// An item that is sent at once.
  sealed interface Part {

    /// Consecutive messages; the last one has the number `last`.
    record Said(Volley volley, long last) implements Part {}

    /// A change of the agent itself, after the message with this number.
    record Happened(Entry entry, long number) implements Part {}
  }
}
