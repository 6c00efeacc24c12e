package dev.parley.api.agents;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A page of messages that merges the deltas of each block of text into one message, even if the
/// deltas of two blocks are interleaved.
///
/// A merged message has the id of its first delta and the number of its last one, so that a client
/// that continues after the greatest number misses and repeats nothing.
final class MergedMessagePage implements MessagePage {

  /// A block of text.
  private record Key(@Nullable TaskId task, @Nullable BlockId block) {}

  /// A message that grows.
  private static final class GrowingMessage {
    final ObjectNode message;
    final StringBuilder text = new StringBuilder();
    long pieces;

    GrowingMessage(ObjectNode first) {
      message = first;
    }

    ObjectNode complete() {
      return message.put("content", text.toString()).put("tokenCount", pieces);
    }
  }

  private final int limit;
  private final List<Object> messages = new ArrayList<>();
  private final Map<Key, GrowingMessage> texts = new HashMap<>();
  private int size;

  MergedMessagePage(int limit) {
    this.limit = limit;
  }

  @Override
  public boolean accepts(Entry entry) {
    return messages.size() < limit || texts.containsKey(key(entry));
  }

  @Override
  public void add(Entry entry, ObjectNode message) {
    var key = key(entry);
    var growingMessage = texts.get(key);
    if (entry.event() instanceof ContentDelta(var piece, _, _)) {
      if (growingMessage == null) {
        growingMessage = new GrowingMessage(message);
        message.remove(AgentMessageEncoder.RAW); // A line has only one delta.
        message.set("firstSequenceNumber", message.path("sequenceNumber"));
        message
            .withObject("/metadata")
            .put(AgentMessageEncoder.EVENT_TYPE, "content")
            .remove("index");
        texts.put(key, growingMessage);
        messages.add(growingMessage);
        size += message.toString().length();
      }
      growingMessage.message.set("sequenceNumber", message.path("sequenceNumber"));
      growingMessage.text.append(piece);
      growingMessage.pieces++;
      size += piece.length();
    } else if (entry.event() instanceof ContentComplete && growingMessage != null) {
      growingMessage.message.set("sequenceNumber", message.path("sequenceNumber"));
      growingMessage.message.withObject("/metadata").put("partial", true);
    } else {
      messages.add(message);
      size += message.toString().length();
    }
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public byte[] json() {
    return Json.bytes(
        messages.stream()
            .map(
                one ->
                    one instanceof GrowingMessage growingMessage ? growingMessage.complete() : one)
            .toList());
  }

  private static @Nullable Key key(Entry entry) {
    return switch (entry.event()) {
      case ContentDelta delta -> new Key(entry.taskId(), delta.blockId());
      case ContentComplete end -> new Key(entry.taskId(), end.blockId());
      default -> null; // No text.
    };
  }
}
