package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.http.BlockingCall;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.identity.Action;
import dev.parley.projection.TurnPosition;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.stream.ProjectedStream;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;

/// Finds responses, reads them, waits for them and streams them.
final class ResponseReader {

  private static final int READ = 1_000;
  private static final Duration WAIT = Duration.ofMinutes(1);

  private final ApiDependencies parts;

  ResponseReader(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The context of a response. A response that the caller may not see does not exist.
  ContextId context(Request request, Action action, ResponseId id) {
    try {
      var context =
          parts.views().contextOf(id.root()).orElseThrow(() -> ResponseId.unknown(id.toString()));
      parts.access().check(request.caller(), action, context);
      return context;
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw ResponseId.unknown(id.toString());
    }
  }

  /// A response, as it is now.
  ///
  /// @throws Rejection.NotFound if its task has no such run
  ResponseProjection read(ContextId context, ResponseId id) {
    var projection = fold(context, id, parts.log().head(context));
    if (!projection.begun()) {
      throw ResponseId.unknown(id.toString());
    }
    return projection;
  }

  /// The task of a response, as it is at a position.
  ResponseProjection fold(ContextId context, ResponseId id, Position to) {
    var projection = new ResponseProjection(context, id);
    var position = start(context, id.root());
    while (to.after(position) && !projection.ended()) {
      for (var entry : parts.log().read(context, position, READ)) {
        position = entry.position();
        if (position.after(to)) {
          return projection;
        }
        projection.apply(entry);
      }
    }
    return projection;
  }

  /// The latest response of a task, as it is now.
  ResponseProjection latest(ContextId context, TaskId root) {
    return fold(context, new ResponseId(root, Integer.MAX_VALUE), parts.log().head(context));
  }

  /// The response that an entry of the task belongs to.
  ResponseId at(ContextId context, TaskId root, Position position) {
    var run = fold(context, new ResponseId(root, Integer.MAX_VALUE), position).run();
    return new ResponseId(root, Math.max(1, run));
  }

  /// The position before a task and its message.
  private Position start(ContextId context, TaskId task) {
    return parts
        .views()
        .turnPosition(context, task)
        .map(TurnPosition::seq)
        .map(seq -> Position.of(seq - 1))
        .orElse(Position.START);
  }

  /// Waits until the condition holds.
  ///
  /// @throws Rejection.Unavailable if the server stops or the caller disconnects first; the task
  ///     continues
  ResponseProjection await(
      BlockingCall call, ContextId context, ResponseId id, Predicate<ResponseProjection> wanted) {
    var projection = new ResponseProjection(context, id);
    var position = start(context, id.root());
    while (!wanted.test(projection)) {
      if (call.ended()) {
        throw new Rejection.Unavailable(
            "the server is stopping; the task continues: read the response " + id + " later");
      }
      var from = position;
      for (var entry : parts.log().read(context, position, READ)) {
        position = entry.position();
        projection.apply(entry);
        if (wanted.test(projection)) {
          return projection;
        }
      }
      if (position.equals(from)) {
        call.await(() -> parts.log().await(context, from, WAIT));
      }
    }
    return projection;
  }

  /// Streams a response from its start. The encoder decides what the client gets.
  Reply stream(
      ContextId context,
      ResponseId id,
      ProjectedStream.EntryEncoder encoder,
      Map<String, String> headers) {
    return new Reply.Stream(
        new ProjectedStream(
            parts.streamDependencies(), context, start(context, id.root()), encoder),
        headers);
  }
}
