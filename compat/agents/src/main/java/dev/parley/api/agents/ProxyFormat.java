package dev.parley.api.agents;

import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.log.EventLog;
import dev.parley.projection.TaskTree;
import dev.parley.projection.Views;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.stream.EventFormat;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.SseFrames;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
    static ProxyEvent of(String event, Object data) {
      return new ProxyEvent(event, Json.bytes(data));
    }
  }

  private record ErrorData(String error) {}

  private record CompleteData(String status, long duration, long messageCount) {}

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
      if (entry.event() instanceof ErrorReported error && error.scope() == ErrorScope.TASK) {
        all.add(ProxyEvent.of("error", new ErrorData(error.message())));
      }
      TaskTree.endIn(entry.event()).ifPresent(end -> all.add(complete(entry, AgentStatus.of(end))));
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
  public byte[] open(StreamOpening opening) {
    return ascii("retry: 1000\n\n");
  }

  @Override
  public byte[] gap(Position position, String reason, String requested) {
    return SseFrames.frame(
        position, "error", Json.bytes(new ErrorData("the stream ends: " + reason)));
  }

  private ProxyEvent complete(Entry end, AgentStatus status) {
    var runTotals = totals(end);
    var duration = Duration.between(runTotals.begun(), end.timestamp()).toMillis();
    return ProxyEvent.of(
        "complete", new CompleteData(status.result(), duration, runTotals.lines()));
  }

  private record RunTotals(Instant begun, long lines) {}

  /// The start of the task and the number of its lines, including those of its end.
  private RunTotals totals(Entry end) {
    var root = root(end);
    var task = end.taskId();
    var position =
        task == null ? Position.START : views.positionBefore(end.contextId(), task, end.position());
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
