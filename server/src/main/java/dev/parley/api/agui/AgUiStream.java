package dev.parley.api.agui;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.ProjectedStream;
import dev.parley.stream.SseFrames;
import java.io.ByteArrayOutputStream;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// Streams the AG-UI events of a thread from a given point. Earlier entries are only folded. For
/// one thread.
final class AgUiStream implements ProjectedStream.EntryEncoder {

  /// Which part of a thread to stream.
  sealed interface AgUiStreamRange {

    /// The protocol version of the reader.
    AgUiVersion version();

    /// One run.
    record SingleRun(String runId, AgUiVersion version) implements AgUiStreamRange {}

    /// The events after a cursor, until no run is active; without end if `follow` is true.
    record AfterCursor(FrameCursor cursor, boolean follow, AgUiVersion version)
        implements AgUiStreamRange {}
  }

  private final AgUiProjection projection;
  private final AgUiStreamRange range;
  private List<byte[]> snapshotFrames;
  private String place;
  private boolean runStarted;
  private boolean runEnded;

  /// @param snapshotFrames snapshot frames that are sent first
  AgUiStream(
      AgUiProjection projection,
      AgUiStreamRange agUiStreamRange,
      List<byte[]> snapshotFrames,
      String place) {
    this.projection = projection;
    this.range = agUiStreamRange;
    this.snapshotFrames = List.copyOf(snapshotFrames);
    this.place = place;
  }

  @Override
  public byte[] open() {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes(SseFrames.withRetry(SseFrames.cursor(place)));
    snapshotFrames.forEach(bytes::writeBytes);
    snapshotFrames = List.of();
    if (range instanceof AgUiStreamRange.AfterCursor(var cursor, _, _)) {
      place = cursor.place();
    }
    return bytes.toByteArray();
  }

  @Override
  public byte[] frames(Entry entry) {
    var events = projection.apply(entry);
    var ids = FrameCursor.each(entry.position().toString(), events.size());
    var bytes = new ByteArrayOutputStream();
    for (var i = 0; i < events.size(); i++) {
      var event = events.get(i);
      if (wanted(ids.get(i), event)) {
        bytes.writeBytes(
            SseFrames.unnamed(ids.get(i).toString(), Json.bytes(range.version().adapt(event))));
      }
    }
    if (!runEnded && (runStarted || range instanceof AgUiStreamRange.AfterCursor)) {
      place = entry.position().toString();
    }
    return bytes.toByteArray();
  }

  private boolean wanted(FrameCursor id, ObjectNode event) {
    return switch (range) {
      case AgUiStreamRange.SingleRun(var runId, _) -> {
        if (runEnded) {
          yield false;
        }
        runStarted |=
            AgUiEvent.RUN_STARTED.is(event) && event.path("runId").asString().equals(runId);
        runEnded =
            runStarted && (AgUiEvent.RUN_FINISHED.is(event) || AgUiEvent.RUN_ERROR.is(event));
        yield runStarted;
      }
      case AgUiStreamRange.AfterCursor(var cursor, _, _) -> id.after(cursor);
    };
  }

  @Override
  public boolean ended(boolean all) {
    return switch (range) {
      case AgUiStreamRange.SingleRun _ -> runEnded;
      case AgUiStreamRange.AfterCursor(_, var follow, _) -> all && !follow && projection.idle();
    };
  }

  @Override
  public byte[] heartbeat() {
    return SseFrames.heartbeat(place);
  }

  @Override
  public byte[] deleted() {
    var run = projection.current();
    if (run == null || run.phase != AgUiRunState.RunPhase.RUNNING || runEnded) {
      return new byte[0];
    }
    var error = AgUiEvent.RUN_ERROR.json().put("message", "the thread was deleted");
    return SseFrames.unnamed(place, Json.bytes(error.put("code", "deleted")));
  }
}
