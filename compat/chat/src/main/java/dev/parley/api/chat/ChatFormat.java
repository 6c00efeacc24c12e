package dev.parley.api.chat;

import dev.parley.http.Sha256;
import dev.parley.projection.ContextFeed;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.stream.EventFormat;
import dev.parley.stream.FeedSource.FeedItem;
import dev.parley.stream.FeedStream;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.SseFrames;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Encodes chat events as frames, for the streams of one and of all conversations.
final class ChatFormat implements EventFormat, FeedStream.FeedEncoder {

  private static final String GAP = "stream_gap";

  private final ChatEventMapper events;
  private final InstantSource clock;
  private final Supplier<UUID> ids;
  private final UUID key;

  /// Events are missing in the stream.
  private record GapEvent(
      String type, String reason, @Nullable String requested, UUID eventId, Instant timestamp) {}

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
  public byte[] open(StreamOpening opening) {
    return SseFrames.withRetry(SseFrames.cursor(opening.position().toString()));
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    return gap(position.toString(), reason, requested);
  }

  @Override
  public List<byte[]> frames(FeedItem item) {
    var entry = item.entry();
    if (entry == null) {
      // The id is the same for all readers.
      var id = deletion(item.context());
      var deleted =
          new ChatEvent(
              "conversation_deleted", item.context(), null, null, id, clock.instant(), null, null);
      return frames(item.cursor().toString(), List.of(deleted));
    }
    return frames(item.cursor().toString(), events.of(entry));
  }

  @Override
  public byte[] open(ContextFeed.FeedCursor cursor) {
    return SseFrames.withRetry(SseFrames.cursor(cursor.toString()));
  }

  @Override
  public byte[] gap(ContextFeed.FeedCursor cursor, ContextFeed.FeedCursor requested) {
    return gap(cursor.toString(), "cursor-lost", requested.toString());
  }

  private static List<byte[]> frames(String place, List<ChatEvent> events) {
    var frames = new ArrayList<byte[]>();
    var ids = FrameCursor.each(place, events.size());
    for (var i = 0; i < events.size(); i++) {
      var event = events.get(i);
      frames.add(SseFrames.frame(ids.get(i).toString(), event.type(), Json.bytes(event)));
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

  private byte[] gap(String id, String reason, String requested) {
    var missing = requested.isEmpty() ? null : requested;
    var gap = new GapEvent(GAP, reason, missing, ids.get(), clock.instant());
    return SseFrames.frame(id, GAP, Json.bytes(gap));
  }
}
