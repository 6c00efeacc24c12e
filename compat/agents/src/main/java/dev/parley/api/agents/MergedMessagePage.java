package dev.parley.api.agents;

import dev.parley.api.agents.AgentMessageRoutes.MessagePage;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

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
    private final AgentMessage first;
    private final ObjectNode metadata;
    private final StringBuilder text = new StringBuilder();
    private long last;
    private long pieces;

    GrowingMessage(AgentMessage first) {
      this.first = first;
      metadata = Json.mapper().valueToTree(first.metadata());
      metadata.put("eventType", "content").remove("index");
    }

    /// The whole message. It has no line: a line has only one delta.
    AgentMessage complete() {
      return new AgentMessage(
          first.id(),
          first.agentId(),
          last,
          first.type(),
          first.role(),
          StringNode.valueOf(text.toString()),
          null,
          metadata,
          first.createdAt(),
          first.sequenceNumber(),
          pieces);
    }
  }

  private final int limit;
  private final List<Supplier<AgentMessage>> messages = new ArrayList<>();
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
  public void add(Entry entry, AgentMessage message) {
    var key = key(entry);
    var growing = texts.get(key);
    if (entry.event() instanceof ContentDelta) {
      if (growing == null) {
        growing = new GrowingMessage(message);
        texts.put(key, growing);
        messages.add(growing::complete);
        size += length(message);
      }
      var piece = message.content().asString();
      growing.last = message.sequenceNumber();
      growing.text.append(piece);
      growing.pieces++;
      size += piece.length();
    } else if (entry.event() instanceof ContentComplete && growing != null) {
      growing.last = message.sequenceNumber();
      growing.metadata.put("partial", true);
    } else {
      messages.add(() -> message);
      size += length(message);
    }
  }

  private static int length(AgentMessage message) {
    return Json.mapper().writeValueAsString(message).length();
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public byte[] json() {
    return Json.bytes(messages.stream().map(Supplier::get).toList());
  }

  private static @Nullable Key key(Entry entry) {
    return switch (entry.event()) {
      case ContentDelta delta -> new Key(entry.taskId(), delta.blockId());
      case ContentComplete end -> new Key(entry.taskId(), end.blockId());
      default -> null; // No text.
    };
  }
}
