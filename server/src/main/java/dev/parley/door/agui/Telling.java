package dev.parley.door.agui;

import dev.parley.door.EntryTail;
import dev.parley.door.FrameCursor;
import dev.parley.door.Frames;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import java.io.ByteArrayOutputStream;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// Streams the AG-UI events of a thread from a given point. Earlier entries are only folded. For
/// one thread.
final class Telling implements EntryTail.Script {

  /// Which part of a thread to stream.
  sealed interface Wish {

    /// The protocol version of the reader.
    ProtocolVersion version();

    /// One run.
    record Run(String runId, ProtocolVersion version) implements Wish {}

    /// The events after a cursor, until no run is active; without end if `follow` is true.
    record After(FrameCursor cursor, boolean follow, ProtocolVersion version) implements Wish {}
  }

  private final Narrator narrator;
  private final Wish wish;
  private List<byte[]> recap;
  private String place;
  private boolean telling;
  private boolean over;

  /// @param recap snapshot frames that are sent first
  Telling(Narrator narrator, Wish wish, List<byte[]> recap, String place) {
    this.narrator = narrator;
    this.wish = wish;
    this.recap = List.copyOf(recap);
    this.place = place;
  }

  @Override
  public byte[] open() {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes(Frames.first(Frames.place(place)));
    recap.forEach(bytes::writeBytes);
    recap = List.of();
    if (wish instanceof Wish.After(var cursor, _, _)) {
      place = cursor.place();
    }
    return bytes.toByteArray();
  }

  @Override
  public byte[] frames(Entry entry) {
    var events = narrator.of(entry);
    var ids = FrameCursor.each(entry.position().toString(), events.size());
    var bytes = new ByteArrayOutputStream();
    for (var i = 0; i < events.size(); i++) {
      var event = events.get(i);
      if (wanted(ids.get(i), event)) {
        bytes.writeBytes(
            Frames.unnamed(ids.get(i).toString(), Json.bytes(wish.version().write(event))));
      }
    }
    if (!over && (telling || wish instanceof Wish.After)) {
      place = entry.position().toString();
    }
    return bytes.toByteArray();
  }

  private boolean wanted(FrameCursor id, ObjectNode event) {
    return switch (wish) {
      case Wish.Run(var runId, _) -> {
        if (over) {
          yield false;
        }
        telling |= AgUiEvent.RUN_STARTED.is(event) && event.path("runId").asString().equals(runId);
        over = telling && (AgUiEvent.RUN_FINISHED.is(event) || AgUiEvent.RUN_ERROR.is(event));
        yield telling;
      }
      case Wish.After(var cursor, _, _) -> id.after(cursor);
    };
  }

  @Override
  public boolean ended(boolean all) {
    return switch (wish) {
      case Wish.Run _ -> over;
      case Wish.After(_, var follow, _) -> all && !follow && narrator.idle();
    };
  }

  @Override
  public byte[] heartbeat() {
    return Frames.heartbeat(place);
  }

  @Override
  public byte[] gone() {
    var turn = narrator.current();
    if (turn == null || turn.phase != Turn.Phase.RUNNING || over) {
      return new byte[0];
    }
    var error = AgUiEvent.RUN_ERROR.json().put("message", "the thread was deleted");
    return Frames.unnamed(place, Json.bytes(error.put("code", "deleted")));
  }
}
