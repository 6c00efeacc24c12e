package dev.parley.api.chat;

import dev.parley.api.ApiDependencies;
import dev.parley.http.FrameStream;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.log.OpenTask;
import dev.parley.projection.ContextFeed;
import dev.parley.projection.TurnPosition;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.stream.ContextStream;
import dev.parley.stream.EventFilter;
import dev.parley.stream.FeedStream;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.PendingStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/// `GET /chat/stream`: streams one conversation, or all that the caller may see.
final class ChatStreamRoutes {

  private final ApiDependencies parts;
  private final ChatFormat format;

  ChatStreamRoutes(ApiDependencies parts, ChatFormat format) {
    this.parts = parts;
    this.format = format;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            "/chat/stream",
            "Streams chat events of one conversation, which need not exist yet, or of all",
            ResponseDescription.stream(),
            List.of(
                Parameter.query("conversationId", "only events of this conversation"),
                Parameter.query("after", "only events after this one, by the id of its frame"),
                Parameter.header("Last-Event-ID", "the same as after; takes precedence")),
            this::stream));
  }

  private Reply stream(Request request) {
    var cursor =
        request
            .header("Last-Event-ID")
            .or(() -> request.query("after"))
            .filter(text -> !text.isBlank())
            .map(FrameCursor::parse);
    return request
        .query("conversationId")
        .map(id -> one(request.caller(), new ContextId(id), cursor))
        .orElseGet(() -> all(request.caller(), cursor));
  }

  private Reply all(Caller caller, Optional<FrameCursor> cursor) {
    var contextFeed = parts.views().feed();
    var feedStreamRequest =
        new FeedStream.FeedStreamRequest(
            () -> parts.access().visible(caller),
            cursor
                .map(FrameCursor::place)
                .map(ContextFeed.FeedCursor::parse)
                .orElseGet(parts.views()::feedEnd),
            cursor.map(FrameCursor::part).orElse(0),
            format);
    return new Reply.Stream(
        new FeedStream(parts.streamDependencies(), contextFeed, feedStreamRequest));
  }

  private Reply one(Caller caller, ContextId context, Optional<FrameCursor> cursor) {
    var read = cursor.map(c -> new ReadFrames(c.position(), c.part()));
    // Rejects a deleted conversation with a status, before the stream starts.
    var known = parts.access().mayUse(caller, Action.READ, context);
    return new Reply.Stream(
        new PendingStream(
            parts.streamDependencies(),
            parts.views().feed(),
            context,
            () -> {
              try {
                return parts.access().mayUse(caller, Action.READ, context)
                    ? Optional.of(reader(context, read, known))
                    : Optional.empty();
              } catch (Rejection.Gone deleted) {
                var gap = format.gap(Position.START, "deleted", "");
                return Optional.of(sink -> sink.write(ByteBuffer.wrap(gap)));
              }
            }));
  }

  /// The frames that a reader has: all before `position`, and the first `part` of the entry there,
  /// or all of them if that is zero.
  private record ReadFrames(Position position, int part) {}

  private FrameStream reader(ContextId context, Optional<ReadFrames> read, boolean known) {
    var after =
        read.map(ReadFrames::position)
            // A reader that waited for the conversation gets all of it.
            .orElseGet(() -> known ? beforeTurn(context) : Position.START);
    var stream =
        new ContextStream(
            parts.streamDependencies(),
            new ContextStream.StreamRequest(
                context, after, EventFilter.ALL, format, false, null, null));
    if (read.isEmpty() || read.get().part() == 0) {
      return stream;
    }
    var rest = rest(context, read.get());
    return sink -> {
      sink.write(ByteBuffer.wrap(rest));
      stream.run(sink);
    };
  }

  /// The frames of an entry that an interrupted reader has not got.
  private byte[] rest(ContextId context, ReadFrames read) {
    var bytes = new ByteArrayOutputStream();
    if (read.position().k() == 0 && read.position().seq() > 0) {
      var before = new Position(read.position().seq() - 1, Integer.MAX_VALUE);
      parts.log().read(context, before, 1).stream()
          .map(format::frames)
          .filter(frames -> frames.size() > read.part())
          .flatMap(frames -> frames.subList(read.part(), frames.size()).stream())
          .forEach(bytes::writeBytes);
    }
    return bytes.toByteArray();
  }

  /// The position before the latest message, or before the first task that has not ended.
  private Position beforeTurn(ContextId context) {
    var latest =
        parts.views().latestMessages(context, 1).stream()
            .findFirst()
            .map(
                message ->
                    Optional.ofNullable(message.taskId())
                        .flatMap(task -> parts.views().turnPosition(context, task))
                        .map(TurnPosition::seq)
                        .orElse(message.seq()))
            .orElse(1L);
    var open =
        parts
            .log()
            .inspect(
                context,
                state ->
                    state.openTasks().stream()
                        .filter(task -> task.origin().parentTaskId() == null)
                        .mapToLong(ChatStreamRoutes::messageSeq)
                        .min());
    return Position.of(Math.max(0, Math.min(latest, open.orElse(latest)) - 1));
  }

  /// The seq of the task's message, which directly precedes the task.
  private static long messageSeq(OpenTask task) {
    return task.createdSeq() - (task.created().messageId() == null ? 0 : 1);
  }
}
