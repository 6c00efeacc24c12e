package dev.parley.net;

import dev.parley.runtime.Time;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// The server-sent events of a response. For one thread. Closing it closes the response.
public final class ServerSentEventStream implements AutoCloseable {

  /// The result of a read.
  public sealed interface StreamItem {

    /// An event.
    record EventReceived(ServerSentEvent event) implements StreamItem {}

    /// The server closed the stream, or the connection broke for this reason.
    record StreamEnded(@Nullable IOException reason) implements StreamItem {}

    /// No event arrived in time.
    record StreamSilent() implements StreamItem {}
  }

  /// The maximum size of an event, and of all events together.
  public record EventLimits(int eventBytesMax, long streamBytesMax) {

    public EventLimits(int eventBytesMax) {
      this(eventBytesMax, Long.MAX_VALUE);
    }
  }

  private final ResponseStream response;
  private final Time time;
  private final EventLimits limits;
  private final ServerSentEventParser parser;
  private long bytesRead;

  ServerSentEventStream(ResponseStream response, Time time, EventLimits limits) {
    this.response = response;
    this.time = time;
    this.limits = limits;
    this.parser = new ServerSentEventParser(limits.eventBytesMax());
  }

  /// Waits for the next event.
  public StreamItem next(Duration patience) throws InterruptedException {
    return next(patience, false);
  }

  /// Waits for the next event while the server sends something, if only comments: at most
  /// `silence` without a byte.
  public StreamItem nextWhileActive(Duration silence) throws InterruptedException {
    return next(silence, true);
  }

  /// The next item if it has been received, else null.
  public @Nullable StreamItem ready() throws InterruptedException {
    var item = next(Duration.ZERO);
    return item instanceof StreamItem.StreamSilent ? null : item;
  }

  private StreamItem next(Duration patience, boolean whileActive) throws InterruptedException {
    try {
      var deadline = time.deadline(patience);
      while (true) {
        var bytes = response.next(deadline);
        if (bytes == null) {
          return new StreamItem.StreamEnded(null);
        }
        var size = bytes.remaining();
        var event = parser.parse(bytes);
        bytesRead += size - bytes.remaining();
        if (bytesRead > limits.streamBytesMax()) {
          throw new ResponseTooLargeException("a response", limits.streamBytesMax());
        }
        if (event != null) {
          return new StreamItem.EventReceived(event);
        }
        deadline = whileActive ? time.deadline(patience) : deadline;
      }
    } catch (TimeoutException silent) {
      return new StreamItem.StreamSilent();
    } catch (IOException broken) {
      return new StreamItem.StreamEnded(broken);
    }
  }

  /// The last event of a stream that ended without the empty line after it, or null. The
  /// specification ignores such an event, but some servers send them.
  public @Nullable ServerSentEvent unfinished() {
    return parser.endEvent();
  }

  /// The id of the last complete event, even if it had no data; null if there was none.
  public @Nullable String lastEventId() {
    return parser.lastEventId();
  }

  /// How long to wait before the stream is opened again, if the server has sent it.
  public @Nullable Duration retry() {
    return parser.retry();
  }

  /// Reads to the end of the stream if it arrives within `patience`, so that the connection can be
  /// used again.
  public void drain(Duration patience) throws InterruptedException {
    var item = next(patience);
    while (item instanceof StreamItem.EventReceived) {
      item = next(patience);
    }
  }

  @Override
  public void close() {
    response.close();
  }
}
