package dev.parley.api.agui;

import dev.parley.http.AnswerSource;
import dev.parley.http.ApiDependencies;
import dev.parley.http.FrameCursor;
import dev.parley.http.ProjectedStream;
import dev.parley.http.Reply;
import dev.parley.http.SseFrames;
import dev.parley.log.OpenTask;
import dev.parley.projection.TurnPosition;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Reads threads: their active or paused run, and their streams.
final class ThreadReader {

  private static final int PAGE = 1_000;

  /// How many of the latest messages a snapshot includes.
  private static final int SNAPSHOT_MESSAGES = 200;

  private final ApiDependencies parts;
  private final AnswerSource answerSource;

  ThreadReader(ApiDependencies parts) {
    this.parts = parts;
    this.answerSource = new AnswerSource(parts.log(), parts.views());
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
    var agUiProjection = newProjection(thread, root.get(), null);
    var head =
        fold(thread, agUiProjection, positionBefore(thread, root.get()), parts.log().head(thread));
    return Optional.ofNullable(agUiProjection.current())
        .map(agUiRunState -> new OpenThreadRun(head, agUiRunState));
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
    var agUiStream =
        new AgUiStream(newProjection(thread, root, null), wish, List.of(), start.toString());
    return new Reply.Stream(
        new ProjectedStream(parts.streamDependencies(), thread, start, agUiStream));
  }

  /// How to stream a thread: after a cursor, or from the beginning with snapshots if there is none.
  record ThreadStreamRequest(@Nullable String cursor, boolean follow, AgUiVersion version) {}

  /// The stream of a thread.
  Reply stream(ContextId thread, ThreadStreamRequest threadStreamRequest) {
    var cursor = threadStreamRequest.cursor();
    var head = parts.log().head(thread);
    if (cursor == null) {
      return streamSnapshot(
          thread, new SnapshotCursor(snapshotStart(thread), head, 0), threadStreamRequest);
    }
    var recap = SnapshotCursor.parse(cursor).orElse(null);
    var after = recap == null ? FrameCursor.parse(cursor) : FrameCursor.of(recap.at());
    if (after.position().after(head)) {
      throw new Rejection.Invalid(
          "cursor-ahead", "the thread ends at " + head + ", before " + after.place());
    }
    return recap == null
        ? streamAfter(thread, after, threadStreamRequest)
        : streamSnapshot(thread, recap, threadStreamRequest);
  }

  private Reply streamAfter(
      ContextId thread, FrameCursor cursor, ThreadStreamRequest threadStreamRequest) {
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
    var agUiProjection = newProjection(thread, null, null);
    var reached = fold(thread, agUiProjection, start, told);
    var wish =
        new AgUiStream.AgUiStreamRange.AfterCursor(
            cursor, threadStreamRequest.follow(), threadStreamRequest.version());
    return reply(thread, agUiProjection, reached, new StreamStart(wish, List.of(), cursor.place()));
  }

  private Reply streamSnapshot(
      ContextId thread, SnapshotCursor cursor, ThreadStreamRequest threadStreamRequest) {
    var at = cursor.at();
    var agUiProjection = newProjection(thread, null, new ThreadTranscript());
    var reached = fold(thread, agUiProjection, cursor.from(), at);
    var state =
        at.equals(Position.START) ? Json.object() : parts.views().snapshot(thread, at, 0).state();
    var events = agUiProjection.snapshots(state, parts.views().correctedMessages(thread));
    var ids = cursor.ids(events.size());
    var frames = new ArrayList<byte[]>();
    for (var i = cursor.part(); i < events.size(); i++) {
      var event = threadStreamRequest.version().adapt(events.get(i));
      frames.add(SseFrames.unnamed(ids.get(i), Json.bytes(event)));
    }
    var place = frames.isEmpty() ? at.toString() : cursor.toString();
    var wish =
        new AgUiStream.AgUiStreamRange.AfterCursor(
            FrameCursor.of(at), threadStreamRequest.follow(), threadStreamRequest.version());
    return reply(thread, agUiProjection, reached, new StreamStart(wish, frames, place));
  }

  /// The start of a stream: the snapshot frames, and the id of the first frame.
  private record StreamStart(
      AgUiStream.AgUiStreamRange.AfterCursor range, List<byte[]> snapshotFrames, String place) {}

  private Reply reply(
      ContextId thread, AgUiProjection agUiProjection, Position reached, StreamStart streamStart) {
    var nothing =
        streamStart.snapshotFrames().isEmpty()
            && streamStart.range().cursor().part() == 0
            && !streamStart.range().follow()
            && agUiProjection.idle()
            && !parts.log().head(thread).after(reached);
    if (nothing) {
      return new Reply.Empty(204);
    }
    var agUiStream =
        new AgUiStream(
            agUiProjection, streamStart.range(), streamStart.snapshotFrames(), streamStart.place());
    return new Reply.Stream(
        new ProjectedStream(parts.streamDependencies(), thread, reached, agUiStream));
  }

  /// The position before the oldest message of a snapshot.
  private Position snapshotStart(ContextId thread) {
    return parts.views().latestMessages(thread, SNAPSHOT_MESSAGES).stream()
        .findFirst()
        .map(message -> Position.of(message.seq() - 1))
        .orElse(Position.START);
  }

  private AgUiProjection newProjection(
      ContextId thread, @Nullable TaskId only, @Nullable ThreadTranscript threadTranscript) {
    return new AgUiProjection(
        new AgUiProjection.AgUiScope(thread, only, answerSource::isAnswer), threadTranscript);
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
  private Position fold(
      ContextId thread, AgUiProjection agUiProjection, Position from, Position to) {
    var position = from;
    while (to.after(position)) {
      for (var entry : parts.log().read(thread, position, PAGE)) {
        if (entry.position().after(to)) {
          return to;
        }
        agUiProjection.apply(entry);
        position = entry.position();
      }
    }
    return position;
  }
}
