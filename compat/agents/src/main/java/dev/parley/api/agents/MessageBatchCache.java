package dev.parley.api.agents;

import dev.parley.api.agents.SocketArgument.AgentArgument;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.socketio.SocketEventBatch;
import dev.parley.stream.PageCache;
import dev.parley.stream.ReadSize;
import java.util.ArrayList;
import java.util.List;

/// Caches encoded messages of agents, so that they are read and encoded once for all subscribers at
/// the same position.
///
/// The first subscriber reads the log and encodes a batch; the others find it in the cache.
/// Subscribers do not wait for each other: each sends at its own pace, and reads the log itself if
/// the batch was evicted. For many threads.
final class MessageBatchCache {

  /// The name of the event that sends a message.
  static final String MESSAGE = "agent:message";

  private static final long WEIGHT_MAX = 16L << 20;

  /// Each text is stored as JSON and in two encodings.
  private static final int COPIES = 3;

  private static final int SMALL = 256;

  /// The number of characters up to which messages are sent together.
  private static final int BATCH_CHARACTERS_MAX = 48 * 1024;

  private final EventLog log;
  private final AgentMessageEncoder encoder;
  private final PageCache<Key, MessageBatch> pageCache =
      new PageCache<>(WEIGHT_MAX, MessageBatchCache::weight);

  /// The start of a batch, and whether it includes the lines of programs.
  private record Key(NumberedReader.NumberedPosition place, boolean raw) {}

  /// Consecutive entries of a context, encoded once for all subscribers of an agent; `end` is the
  /// position after them.
  record MessageBatch(int entries, List<BatchItem> items, NumberedReader.NumberedPosition end) {

    MessageBatch {
      items = List.copyOf(items);
    }
  }

  /// An item that is sent at once.
  sealed interface BatchItem {

    /// Consecutive messages; the last one has the number `last`.
    record EncodedMessages(SocketEventBatch events, long last) implements BatchItem {}

    /// A change of the agent itself, after the message with this number.
    record AgentChange(Entry entry, long number) implements BatchItem {}

    /// The messages between these numbers are not sent.
    record SkippedMessages(long from, long to) implements BatchItem {}
  }

  MessageBatchCache(EventLog log, AgentMessageEncoder form) {
    this.log = log;
    this.encoder = form;
  }

  /// The batch after `place`; empty at the end of the log. `raw` includes the lines of programs.
  MessageBatch after(
      NumberedReader.NumberedPosition numberedPosition, ReadSize readSize, boolean raw)
      throws InterruptedException {
    return pageCache.get(
        new Key(numberedPosition, raw), () -> read(numberedPosition, readSize, raw));
  }

  /// Removes a context from the cache.
  void forget(ContextId context) {
    pageCache.forget(key -> key.place().context().equals(context));
  }

  private static long weight(MessageBatch messageBatch) {
    var weight = (long) SMALL * messageBatch.entries();
    for (var batchItem : messageBatch.items()) {
      if (batchItem instanceof BatchItem.EncodedMessages(var socketEventBatch, var _)) {
        weight +=
            socketEventBatch.arguments().stream()
                .mapToLong(text -> (long) COPIES * text.length())
                .sum();
      }
    }
    return weight;
  }

  private MessageBatch read(
      NumberedReader.NumberedPosition numberedPosition, ReadSize readSize, boolean raw) {
    var numberedReader = new NumberedReader(log, readSize, numberedPosition);
    var parts = new ArrayList<BatchItem>();
    var together = new ArrayList<String>();
    var size = 0;
    var last = numberedPosition.number();
    var steps = numberedReader.read();
    for (var numberedEntry : steps) {
      if (numberedEntry.message()) {
        var text =
            argument(numberedPosition.agent(), raw ? numberedEntry : numberedEntry.withoutRaw());
        if (size + text.length() > BATCH_CHARACTERS_MAX) {
          flush(together, last, parts);
          size = 0;
        }
        together.add(text);
        size += text.length();
        last = numberedEntry.number();
      }
      if (changesAgent(numberedPosition.agent(), numberedEntry.entry())) {
        flush(together, last, parts);
        size = 0;
        parts.add(new BatchItem.AgentChange(numberedEntry.entry(), numberedEntry.number()));
      }
    }
    flush(together, last, parts);
    return new MessageBatch(steps.size(), parts, numberedReader.place());
  }

  private static void flush(List<String> together, long last, List<BatchItem> parts) {
    if (!together.isEmpty()) {
      parts.add(new BatchItem.EncodedMessages(new SocketEventBatch(MESSAGE, together), last));
      together.clear();
    }
  }

  private static boolean changesAgent(TaskId agent, Entry entry) {
    return agent.equals(entry.taskId())
        && (entry.event() instanceof TaskStatus
            || entry.event() instanceof TaskComplete
            || entry.event() instanceof ErrorReported);
  }

  private String argument(TaskId agent, NumberedReader.NumberedEntry numbered) {
    return Json.mapper()
        .writeValueAsString(
            AgentArgument.message(
                agent, numbered.entry().timestamp(), encoder.message(agent, numbered)));
  }
}
