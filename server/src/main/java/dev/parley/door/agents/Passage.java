package dev.parley.door.agents;

import dev.parley.protocol.Entry;
import dev.parley.socket.Volley;
import java.util.List;

/// So many entries of a context, and what there is to tell of them, written once for all who are told; `end`
/// is the place behind.
record Passage(int entries, List<Part> parts, Telling.Place end) {

  Passage {
    parts = List.copyOf(parts);
  }

  /// What is told in one go.
  sealed interface Part {

    /// Messages that follow each other; the last one has the number `last`.
    record Said(Volley volley, long last) implements Part {}

    /// Something that became of the agent itself, after the message with this number.
    record Happened(Entry entry, long number) implements Part {}
  }
}
