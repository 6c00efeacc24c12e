package dev.parley.api.chat;

import dev.parley.http.EventFormat;
import dev.parley.http.FeedReader.FeedItem;
import dev.parley.http.FeedStream;
import dev.parley.http.FrameCursor;
import dev.parley.http.Sha256;
import dev.parley.http.SseFrames;
import dev.parley.projection.ContextFeed;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Timestamps;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/// Encodes chat events as frames, for the streams of one and of all conversations.
final class ChatFormat implements EventFormat, FeedStream.FeedEncoder {

  private static final String GAP = "stream_gap";

  private final ChatEventMapper events;
  private final InstantSource clock;
  private final Supplier<UUID> ids;
  private final UUID key;

  /// The clock and the ids are for events that are not in the log.
  ChatFormat(ChatEventMapper events, InstantSource clock, Supplier<UUID> ids) {
    this.events = events;
    this.clock = clock;
    this.ids = ids;
    this.key = ids.get();
  }

  @Override
  public byte[] json(Entry entry) {
    return Json.bytes(events.of(entry));
  }

  @Override
  public byte[] frame(Entry entry) {
    var bytes = new ByteArrayOutputStream();
    frames(entry).forEach(bytes::writeBytes);
    return bytes.toByteArray();
  }

  /// The frames of an entry in the stream of its conversation.
  List<byte[]> frames(Entry entry) {
    return frames(entry.position().toString(), events.of(entry));
  }

  @Override
  public byte[] merged(Entry entry, long from) {
    return frame(entry);
  }

  @Override
  public byte[] open(StreamOpening streamOpening) {
    return SseFrames.withRetry(SseFrames.cursor(streamOpening.position().toString()));
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    return gap(position.toString(), reason, requested);
  }

  @Override
  public List<byte[]> frames(FeedItem feedItem) {
    var entry = feedItem.entry();
    if (entry == null) {
      var json = Json.object().put("type", "conversation_deleted");
      json.put("conversationId", feedItem.context().value());
      // The same for all readers.
      stamp(json, deletion(feedItem.context()));
      return frames(feedItem.cursor().toString(), List.of(json));
    }
    return frames(feedItem.cursor().toString(), events.of(entry));
  }

  @Override
  public byte[] open(ContextFeed.FeedCursor feedCursor) {
    return SseFrames.withRetry(SseFrames.cursor(feedCursor.toString()));
  }

  @Override
  public byte[] gap(ContextFeed.FeedCursor feedCursor, ContextFeed.FeedCursor requested) {
    return gap(feedCursor.toString(), "cursor-lost", requested.toString());
  }

  private static List<byte[]> frames(String place, List<ObjectNode> events) {
    var frames = new ArrayList<byte[]>();
    var ids = FrameCursor.each(place, events.size());
    for (var i = 0; i < events.size(); i++) {
      var event = events.get(i);
      frames.add(
          SseFrames.frame(ids.get(i).toString(), event.path("type").asString(), Json.bytes(event)));
    }
    return frames;
  }

  /// An id in the form of a UUID v4, which cannot be guessed without the key.
  private UUID deletion(ContextId context) {
    var hash = ByteBuffer.wrap(Sha256.of(key + " conversation_deleted " + context));
    return new UUID(
        (hash.getLong() & 0xffffffffffff0fffL) | 0x4000L,
        (hash.getLong() & 0x3fffffffffffffffL) | 0x8000000000000000L);
  }

  private ObjectNode stamp(ObjectNode event, UUID id) {
    event.put("eventId", id.toString());
    return event.put("timestamp", Timestamps.format(clock.instant()));
  }

  private byte[] gap(String id, String reason, String requested) {
    var json = Json.object().put("type", GAP).put("reason", reason);
    if (!requested.isEmpty()) {
      json.put("requested", requested);
    }
    return SseFrames.frame(id, GAP, Json.bytes(stamp(json, ids.get())));
  }
}
