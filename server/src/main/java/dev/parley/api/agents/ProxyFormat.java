package dev.parley.api.agents;

import dev.parley.http.EventFormat;
import dev.parley.http.FrameCursor;
import dev.parley.http.SseFrames;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes the stream of the proxy routes: lines as `message`, then `error` if the task failed,
/// then `complete`.
abstract sealed class ProxyFormat implements EventFormat permits RawLineFormat, ClaudeCodeFormat {

  private static final int READ = 256;

  private final EventLog log;
  private final Views views;

  ProxyFormat(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// The lines of an entry.
  abstract List<String> lines(Entry entry);

  /// An event's name and its JSON.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record ProxyEvent(String event, byte[] json) {
    static ProxyEvent of(String event, ObjectNode json) {
      return new ProxyEvent(event, Json.bytes(json));
    }
  }

  @Override
  public byte[] frame(Entry entry) {
    var bytes = new ByteArrayOutputStream();
    frames(entry).forEach(bytes::writeBytes);
    return bytes.toByteArray();
  }

  /// The frames of an entry, each with an id from which the stream can be resumed.
  final List<byte[]> frames(Entry entry) {
    var all = new ArrayList<ProxyEvent>();
    lines(entry)
        .forEach(l -> all.add(new ProxyEvent("message", l.getBytes(StandardCharsets.UTF_8))));
    if (isRoot(entry)) {
      switch (entry.event()) {
        case ErrorReported error when error.scope() == ErrorScope.TASK ->
            all.add(ProxyEvent.of("error", Json.object().put("error", error.message())));
        case TaskComplete _ -> all.add(complete(entry, AgentStatus.COMPLETED));
        case TaskStatus status
            when status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED ->
            all.add(complete(entry, AgentStatus.of(status.status())));
        default -> {} // Neither an error nor the end.
      }
    }
    var frames = new ArrayList<byte[]>();
    var ids = FrameCursor.each(entry.position().toString(), all.size());
    for (var i = 0; i < all.size(); i++) {
      frames.add(SseFrames.frame(ids.get(i).toString(), all.get(i).event(), all.get(i).json()));
    }
    return frames;
  }

  @Override
  public byte[] json(Entry entry) {
    throw new IllegalStateException("the proxy format has no pages");
  }

  @Override
  public byte[] merged(Entry entry, long from) {
    return frame(entry);
  }

  @Override
  public byte[] open(StreamOpening streamOpening) {
    return ascii("retry: 1000\n\n");
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    return SseFrames.frame(
        position, "error", Json.bytes(Json.object().put("error", "the stream ends: " + reason)));
  }

  private ProxyEvent complete(Entry end, AgentStatus status) {
    var runTotals = totals(end);
    return ProxyEvent.of(
        "complete",
        Json.object()
            .put("status", status.result())
            .put("duration", Duration.between(runTotals.begun(), end.timestamp()).toMillis())
            .put("messageCount", runTotals.lines()));
  }

  private record RunTotals(Instant begun, long lines) {}

  /// The start of the task and the number of its lines, including those of its end.
  private RunTotals totals(Entry end) {
    var root = root(end);
    var position = beginning(end);
    var begun = end.timestamp();
    var count = 0L;
    while (end.position().after(position)) {
      for (var entry : log.read(end.contextId(), position, READ)) {
        position = entry.position();
        if (!root.equals(root(entry)) || position.after(end.position())) {
          continue;
        }
        if (entry.event() instanceof TaskCreated && isRoot(entry)) {
          begun = entry.timestamp();
        }
        count += lines(entry).size();
      }
    }
    return new RunTotals(begun, count);
  }

  private Position beginning(Entry end) {
    var task = end.taskId();
    try {
      return task == null
          ? Position.START
          : views
              .startPosition(end.contextId(), task, end.position())
              .map(begun -> Position.of(begun.seq() - 1))
              .orElse(Position.START);
    } catch (Rejection.Unavailable viewsCannotBeUsed) {
      // Reading the whole log is slower but gives the same result.
      return Position.START;
    }
  }

  private static String root(Entry entry) {
    return entry.origin() == null ? "" : entry.origin().rootTaskId().value();
  }

  static boolean isRoot(@Nullable Entry entry) {
    return entry != null && entry.origin() != null && entry.origin().parentTaskId() == null;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
