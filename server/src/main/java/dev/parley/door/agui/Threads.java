package dev.parley.door.agui;

import dev.parley.door.DoorParts;
import dev.parley.door.EntryTail;
import dev.parley.door.FrameCursor;
import dev.parley.door.Frames;
import dev.parley.door.Reply;
import dev.parley.door.Voice;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reads threads: their active or paused run, and their streams.
final class Threads {

  private static final int PAGE = 1_000;

  /// How many of the latest messages a snapshot includes.
  private static final int RECAP_MESSAGES = 200;

  private final DoorParts parts;
  private final Voice voice;

  Threads(DoorParts parts) {
    this.parts = parts;
    this.voice = new Voice(parts.log(), parts.views());
  }

  /// A root task that has started and not ended, folded up to `head`.
  record Open(Position head, Turn turn) {}

  /// The active or paused root task of the thread, if any.
  Optional<Open> open(ContextId thread) {
    var root =
        parts
            .log()
            .inspect(
                thread,
                state ->
                    state.openTasks().stream()
                        .filter(task -> task.origin().parentTaskId() == null && task.started())
                        .map(task -> task.origin().taskId())
                        .findFirst());
    if (root.isEmpty()) {
      return Optional.empty();
    }
    var narrator = narrator(thread, root.get(), null);
    var head = fold(thread, narrator, before(thread, root.get()), parts.log().head(thread));
    return Optional.ofNullable(narrator.current()).map(turn -> new Open(head, turn));
  }

  /// A root task that has not ended, and its run id.
  record OpenRoot(TaskId task, String runId) {

    /// Call this inside `inspect`: the task may change later.
    static OpenRoot of(OpenTask task) {
      var given = Turn.runId(task.created().metadata());
      var id = task.origin().taskId();
      return new OpenRoot(id, given == null ? id.value() : given);
    }
  }

  /// Root tasks that have not ended, started ones first.
  List<OpenRoot> roots(ContextId thread) {
    return parts
        .log()
        .inspect(
            thread,
            state ->
                state.openTasks().stream()
                    .filter(task -> task.origin().parentTaskId() == null)
                    .sorted((a, b) -> Boolean.compare(b.started(), a.started()))
                    .map(OpenRoot::of)
                    .toList());
  }

  /// The stream of one run of a task.
  Reply run(ContextId thread, TaskId root, Telling.Wish.Run wish) {
    var start = before(thread, root);
    var telling = new Telling(narrator(thread, root, null), wish, List.of(), start.toString());
    return new Reply.Stream(new EntryTail(parts.tails(), thread, start, telling));
  }

  /// How to stream a thread: after a cursor, or from the beginning with snapshots if there is none.
  record Reading(@Nullable String cursor, boolean follow, ProtocolVersion version) {}

  /// The stream of a thread.
  Reply stream(ContextId thread, Reading reading) {
    var cursor = reading.cursor();
    var head = parts.log().head(thread);
    if (cursor == null) {
      return recap(thread, new RecapCursor(recapStart(thread), head, 0), reading);
    }
    var recap = RecapCursor.parse(cursor).orElse(null);
    var after = recap == null ? FrameCursor.parse(cursor) : FrameCursor.of(recap.at());
    if (after.position().after(head)) {
      throw new Rejection.Invalid(
          "cursor-ahead", "the thread ends at " + head + ", before " + after.place());
    }
    return recap == null ? rest(thread, after, reading) : recap(thread, recap, reading);
  }

  private Reply rest(ContextId thread, FrameCursor cursor, Reading reading) {
    var at = cursor.position();
    if (cursor.part() > 0 && (at.seq() < 1 || at.k() > 0)) {
      throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream");
    }
    // If only some frames of an entry were read, start before that entry to send the others.
    var told = cursor.part() == 0 ? at : new Position(at.seq() - 1, Integer.MAX_VALUE);
    var start =
        parts.views().openAt(thread, told.seq()).map(task -> before(thread, task)).orElse(told);
    var narrator = narrator(thread, null, null);
    var reached = fold(thread, narrator, start, told);
    var wish = new Telling.Wish.After(cursor, reading.follow(), reading.version());
    return reply(thread, narrator, reached, new Told(wish, List.of(), cursor.place()));
  }

  private Reply recap(ContextId thread, RecapCursor cursor, Reading reading) {
    var at = cursor.at();
    var narrator = narrator(thread, null, new Transcript());
    var reached = fold(thread, narrator, cursor.from(), at);
    var state =
        at.equals(Position.START) ? Json.object() : parts.views().snapshot(thread, at, 0).state();
    var events = narrator.recap(state, parts.views().corrected(thread));
    var ids = cursor.ids(events.size());
    var frames = new ArrayList<byte[]>();
    for (var i = cursor.part(); i < events.size(); i++) {
      var event = reading.version().write(events.get(i));
      frames.add(Frames.unnamed(ids.get(i), Json.bytes(event)));
    }
    var place = frames.isEmpty() ? at.toString() : cursor.toString();
    var wish = new Telling.Wish.After(FrameCursor.of(at), reading.follow(), reading.version());
    return reply(thread, narrator, reached, new Told(wish, frames, place));
  }

  /// The start of a stream: the snapshot frames, and the id of the first frame.
  private record Told(Telling.Wish.After wish, List<byte[]> recap, String place) {}

  private Reply reply(ContextId thread, Narrator narrator, Position reached, Told told) {
    var nothing =
        told.recap().isEmpty()
            && told.wish().cursor().part() == 0
            && !told.wish().follow()
            && narrator.idle()
            && !parts.log().head(thread).after(reached);
    if (nothing) {
      return new Reply.Empty(204);
    }
    var telling = new Telling(narrator, told.wish(), told.recap(), told.place());
    return new Reply.Stream(new EntryTail(parts.tails(), thread, reached, telling));
  }

  /// The position before the oldest message of a snapshot.
  private Position recapStart(ContextId thread) {
    return parts.views().latestMessages(thread, RECAP_MESSAGES).stream()
        .findFirst()
        .map(message -> Position.of(message.seq() - 1))
        .orElse(Position.START);
  }

  private Narrator narrator(
      ContextId thread, @Nullable TaskId only, @Nullable Transcript transcript) {
    return new Narrator(new Narrator.Plot(thread, only, voice::speaks), transcript);
  }

  /// The position before a task and its message.
  private Position before(ContextId thread, TaskId task) {
    return parts
        .views()
        .place(thread, task)
        .map(Place::seq)
        .map(seq -> Position.of(seq - 1))
        .orElse(Position.START);
  }

  /// Applies the entries between two positions. Returns the last position.
  private Position fold(ContextId thread, Narrator narrator, Position from, Position to) {
    var position = from;
    while (to.after(position)) {
      for (var entry : parts.log().read(thread, position, PAGE)) {
        if (entry.position().after(to)) {
          return to;
        }
        narrator.of(entry);
        position = entry.position();
      }
    }
    return position;
  }
}
