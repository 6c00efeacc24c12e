package dev.parley.api.agents;

import dev.parley.protocol.Entry;
import dev.parley.socketio.SocketEventBatch;
import java.util.List;

/// Consecutive entries of a context, encoded once for all subscribers of an agent; `end` is the
/// position after them.
record MessageBatch(int entries, List<BatchItem> items, NumberedReader.NumberedPosition end) {

  MessageBatch {
    items = List.copyOf(items);
  }

  /// An item that is sent at once.
  sealed interface BatchItem {

    /// Consecutive messages; the last one has the number `last`.
    record EncodedMessages(SocketEventBatch events, long last) implements BatchItem {}

    /// A change of the agent itself, after the message with this number.
    record AgentChange(Entry entry, long number) implements BatchItem {}
  }
}
