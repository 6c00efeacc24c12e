package dev.parley.api.agui;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Reply;
import dev.parley.log.OpenTask;
import dev.parley.projection.TurnPosition;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.ProjectedStream;
import dev.parley.stream.SseFrames;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads threads: their active or paused run, and their streams.
final class ThreadReader {

  private static final int PAGE = 1_000;

  /// How many of the latest messages a snapshot includes.
  private static final int SNAPSHOT_MESSAGES = 200;

  private final ApiDependencies parts;

  ThreadReader(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A root task that has started and not ended, folded up to `head`.
  record OpenThreadRun(Position head, AgUiRunState run) {}

  /// The active or paused root task of the thread, if any.
  Optional<OpenThreadRun> open(ContextId thread) {
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
    var projection = new AgUiProjection(thread, root.get(), null);
    var head =
        fold(thread, projection, positionBefore(thread, root.get()), parts.log().head(thread));
    return Optional.ofNullable(projection.current()).map(run -> new OpenThreadRun(head, run));
  }

  /// A root task that has not ended, and its run id.
  record OpenRoot(TaskId task, String runId) {

    /// Call this inside `inspect`: the task may change later.
    static OpenRoot of(OpenTask task) {
      var id = task.origin().taskId();
      return new OpenRoot(id, task.created().facts().runId().orElse(id.value()));
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
  Reply run(ContextId thread, TaskId root, AgUiStream.AgUiStreamRange.SingleRun wish) {
    var start = positionBefore(thread, root);
    var stream =
        new AgUiStream(new AgUiProjection(thread, root, null), wish, List.of(), start.toString());
    return new Reply.Stream(new ProjectedStream(parts.streamDependencies(), thread, start, stream));
  }

  /// How to stream a thread: after a cursor, or from the beginning with snapshots if there is none.
  record ThreadStreamRequest(@Nullable String cursor, boolean follow, AgUiVersion version) {}

  /// The stream of a thread.
  Reply stream(ContextId thread, ThreadStreamRequest request) {
    var cursor = request.cursor();
    var head = parts.log().head(thread);
    if (cursor == null) {
      return streamSnapshot(thread, new SnapshotCursor(snapshotStart(thread), head, 0), request);
    }
    var recap = SnapshotCursor.parse(cursor).orElse(null);
    var after = recap == null ? FrameCursor.parse(cursor) : FrameCursor.of(recap.at());
    if (after.position().after(head)) {
      throw new Rejection.Invalid(
          "cursor-ahead", "the thread ends at " + head + ", before " + after.place());
    }
    return recap == null
        ? streamAfter(thread, after, request)
        : streamSnapshot(thread, recap, request);
  }

  private Reply streamAfter(ContextId thread, FrameCursor cursor, ThreadStreamRequest request) {
    var at = cursor.position();
    if (cursor.part() > 0 && (at.seq() < 1 || at.k() > 0)) {
      throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream");
    }
    // If only some frames of an entry were read, start before that entry to send the others.
    var told = cursor.part() == 0 ? at : new Position(at.seq() - 1, Integer.MAX_VALUE);
    var start =
        parts
            .views()
            .openTaskAt(thread, told.seq())
            .map(task -> positionBefore(thread, task))
            .orElse(told);
    var projection = new AgUiProjection(thread, null, null);
    var reached = fold(thread, projection, start, told);
    var wish =
        new AgUiStream.AgUiStreamRange.AfterCursor(cursor, request.follow(), request.version());
    return reply(thread, projection, reached, new StreamStart(wish, List.of(), cursor.place()));
  }

  private Reply streamSnapshot(
      ContextId thread, SnapshotCursor cursor, ThreadStreamRequest request) {
    var at = cursor.at();
    var projection = new AgUiProjection(thread, null, new ThreadTranscript());
    var reached = fold(thread, projection, cursor.from(), at);
    var state =
        at.equals(Position.START) ? Json.object() : parts.views().snapshot(thread, at, 0).state();
    var events = projection.snapshots(state, parts.views().correctedMessages(thread));
    var ids = cursor.ids(events.size());
    var frames = new ArrayList<byte[]>();
    for (var i = cursor.part(); i < events.size(); i++) {
      var event = request.version().adapt(events.get(i));
      frames.add(SseFrames.unnamed(ids.get(i), Json.bytes(event)));
    }
    var place = frames.isEmpty() ? at.toString() : cursor.toString();
    var wish =
        new AgUiStream.AgUiStreamRange.AfterCursor(
            FrameCursor.of(at), request.follow(), request.version());
    return reply(thread, projection, reached, new StreamStart(wish, frames, place));
  }

  /// The start of a stream: the snapshot frames, and the id of the first frame.
  private record StreamStart(
      AgUiStream.AgUiStreamRange.AfterCursor range, List<byte[]> snapshotFrames, String place) {}

  private Reply reply(
      ContextId thread, AgUiProjection projection, Position reached, StreamStart start) {
    var nothing =
        start.snapshotFrames().isEmpty()
            && start.range().cursor().part() == 0
            && !start.range().follow()
            && projection.idle()
            && !parts.log().head(thread).after(reached);
    if (nothing) {
      return new Reply.Empty(204);
    }
    var stream = new AgUiStream(projection, start.range(), start.snapshotFrames(), start.place());
    return new Reply.Stream(
        new ProjectedStream(parts.streamDependencies(), thread, reached, stream));
  }

  /// The position before the oldest message of a snapshot.
  private Position snapshotStart(ContextId thread) {
    return parts.views().latestMessages(thread, SNAPSHOT_MESSAGES).stream()
        .findFirst()
        .map(message -> Position.of(message.seq() - 1))
        .orElse(Position.START);
  }

  /// The position before a task and its message.
  private Position positionBefore(ContextId thread, TaskId task) {
    return parts
        .views()
        .turnPosition(thread, task)
        .map(TurnPosition::seq)
        .map(seq -> Position.of(seq - 1))
        .orElse(Position.START);
  }

  /// Applies the entries between two positions. Returns the last position.
  private Position fold(ContextId thread, AgUiProjection projection, Position from, Position to) {
    var position = from;
    while (to.after(position)) {
      for (var entry : parts.log().read(thread, position, PAGE)) {
        if (entry.position().after(to)) {
          return to;
        }
        projection.apply(entry);
        position = entry.position();
      }
    }
    return position;
  }

  /// A cursor within a snapshot.
  ///
  /// @param from the position where the fold of the snapshot begins
  /// @param at the position of the snapshot
  /// @param part how many of its frames were read
  record SnapshotCursor(Position from, Position at, int part) {

    private static final Pattern FORM =
        Pattern.compile("s([0-9.]{1,30})-([0-9.]{1,30})~([0-9]{1,9})");

    /// Parses the frame id of a snapshot; empty if it is another id.
    ///
    /// @throws dev.parley.protocol.Rejection.Invalid if its positions are not valid
    static Optional<SnapshotCursor> parse(String text) {
      var recap = FORM.matcher(text);
      return recap.matches()
          ? Optional.of(
              new SnapshotCursor(
                  Position.parse(recap.group(1)),
                  Position.parse(recap.group(2)),
                  Integer.parseInt(recap.group(3))))
          : Optional.empty();
    }

    /// The ids of all frames of the snapshot. The last one is the position itself: the snapshot is
    /// complete.
    List<String> ids(int frames) {
      var ids = new ArrayList<String>(frames);
      for (var next = 1; next < frames; next++) {
        ids.add(new SnapshotCursor(from, at, next).toString());
      }
      ids.add(at.toString());
      return ids;
    }

    @Override
    public String toString() {
      return "s" + from + "-" + at + "~" + part;
    }
  }
}
