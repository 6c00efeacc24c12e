package dev.parley.client;

import dev.parley.client.HttpRequests.HttpCall;
import dev.parley.client.HttpRequests.RequestPath;
import dev.parley.client.SseParser.SseFrame;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A context's events, in order and each once, even if the connection is lost.
///
/// It connects when the first event is requested. If the connection is lost, or the server sends
/// nothing for two and a half heartbeat intervals, it reconnects and continues after the last
/// event. One thread reads; any thread may [#close].
public final class EventStream implements AutoCloseable {

  private static final Duration FOREVER = Duration.ofDays(10_000);
  private static final Duration HEARTBEAT_USUAL = Duration.ofSeconds(15);
  private static final double HEARTBEATS_MISSED_MAX = 2.5;
  private static final int MALFORMED_MAX = 3;
  private static final int NOTICE_FAILURES = 2;

  private final HttpRequests httpRequests;
  private final ContextId context;
  private final StreamFilter filter;
  private final Reconnect reconnect;
  private final Consumer<String> notice;
  private final RandomGenerator random;
  private final EventSequencer eventSequencer;

  private final CountDownLatch closing = new CountDownLatch(1);
  private volatile @Nullable StreamConnection streamConnection;

  private Duration silenceMax = silence(HEARTBEAT_USUAL);
  private @Nullable Duration retryDelay;
  private int failures;
  private int malformed;
  private long outageSince;
  private long retryAt;
  private long connects;

  EventStream(
      HttpRequests httpRequests,
      StreamSubscription streamSubscription,
      ClientSettings settings,
      RandomGenerator random) {
    this.httpRequests = httpRequests;
    this.context = streamSubscription.context();
    this.filter = streamSubscription.filter();
    this.reconnect = settings.reconnect();
    this.notice = settings.notice();
    this.random = random;
    this.eventSequencer = new EventSequencer(httpRequests, streamSubscription);
  }

  /// The context to read, the position to start after, and the filter.
  record StreamSubscription(ContextId context, Position after, StreamFilter filter) {}

  /// Waits for the next event. Empty once the stream is closed.
  ///
  /// @throws StreamGap if the server cannot continue from this position
  /// @throws Rejection if the server rejects the request, for instance because the context was
  /// deleted
  /// @throws Unreachable if the server could not be reached for as long as [Reconnect] allows
  public Optional<Entry> next() throws InterruptedException {
    return next(FOREVER);
  }

  /// As [#next()], but also empty if no event arrives within `patience`.
  public Optional<Entry> next(Duration patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    for (var tried = false; ; tried = true) {
      var entry = poll();
      if (entry.isPresent() || closed()) {
        return closed() ? Optional.empty() : entry;
      }
      var left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
      var open = streamConnection;
      if (open != null) {
        var receivedItem = open.await(left, silenceMax);
        if (receivedItem == null) {
          return Optional.empty();
        }
        handle(receivedItem);
      } else if (tried && left.isZero()) {
        return Optional.empty();
      } else {
        connect(left);
      }
    }
  }

  /// Passes every event to `reader`, until the stream is closed.
  public void forEach(Consumer<Entry> reader) throws InterruptedException {
    for (var entry = next(); entry.isPresent(); entry = next()) {
      reader.accept(entry.get());
    }
  }

  /// The position of the reader: every event up to here was delivered, or did not match the filter.
  public Position position() {
    return eventSequencer.position();
  }

  /// The number of events that were skipped because this client does not know their kind.
  public long unknown() {
    return eventSequencer.unknown();
  }

  /// Calls `hook` for every event that is skipped because this client does not know its kind.
  public EventStream onUnknown(Consumer<ObjectNode> hook) {
    eventSequencer.onUnknown(hook);
    return this;
  }

  /// The number of events that arrived twice and were dropped.
  public long duplicates() {
    return eventSequencer.duplicates();
  }

  /// The number of reconnects.
  public long reconnects() {
    return Math.max(0, connects - 1);
  }

  /// True after [#close], or after an exception that a reconnect cannot fix.
  public boolean closed() {
    return closing.getCount() == 0;
  }

  private Optional<Entry> poll() {
    try {
      return eventSequencer.poll();
    } catch (Unreachable | Rejection.Busy | Rejection.Unavailable passing) {
      eventSequencer.cancelRepair();
      connectionLost(passing);
      return Optional.empty();
    } catch (Rejection | StreamGap | BadAnswer permanent) {
      throw closedBy(permanent);
    }
  }

  private void connect(Duration patience) throws InterruptedException {
    if (failures > 0 && !awaitRetryTime(patience)) {
      return;
    }
    try {
      var requestPath = filter.addTo(new RequestPath("/api/contexts/" + context + "/stream"));
      var body =
          httpRequests.stream(
              HttpCall.get(requestPath.toString()), eventSequencer.received().toString());
      connects++;
      silenceMax = silence(HEARTBEAT_USUAL);
      streamConnection = new StreamConnection(body);
      if (closed()) {
        disconnect();
      }
    } catch (HttpRequests.HttpFailure httpFailure) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (httpFailure.permanent) {
        throw closedBy(httpFailure.reason);
      }
      scheduleRetry(httpFailure.retryAfter, httpFailure.reason);
    }
  }

  /// Waits until the next retry is due. False if `patience` is shorter, or the stream was closed.
  private boolean awaitRetryTime(Duration patience) throws InterruptedException {
    var wait = retryAt - System.nanoTime();
    var closed = closing.await(Math.min(wait, patience.toNanos()), TimeUnit.NANOSECONDS);
    return !closed && wait <= patience.toNanos();
  }

  private void handle(StreamConnection.ReceivedItem receivedItem) {
    switch (receivedItem) {
      case StreamConnection.ReceivedItem.Frame(var frame) -> handle(frame);
      case StreamConnection.ReceivedItem.Ended(var reason) ->
          connectionLost(
              reason instanceof BadAnswer bad
                  ? bad
                  : httpRequests.unreachable(text(reason), reason));
      case StreamConnection.ReceivedItem.Silent _ ->
          connectionLost(
              httpRequests.unreachable("silent for " + silenceMax.toMillis() + " ms", null));
    }
  }

  private void handle(SseFrame frame) {
    try {
      if (frame.retry() != null) {
        retryDelay = frame.retry();
      }
      switch (frame.event()) {
        case "stream-open" -> {
          silenceMax = silence(EventSequencer.heartbeat(frame, HEARTBEAT_USUAL));
          // The server is back, so the patience starts again. The delays keep growing until an
          // event arrives, so that a server that drops every reader is not called without a pause.
          outageSince = System.nanoTime();
        }
        case "stream-gap" -> throw closedBy(EventSequencer.gap(frame));
        default -> {
          // Newer servers may send other frames about the stream itself; these are not events.
          if (!frame.event().startsWith("stream-") && eventSequencer.addFrame(frame)) {
            failures = 0;
            malformed = 0;
          }
        }
      }
    } catch (BadAnswer bad) {
      connectionLost(bad);
    }
  }

  private void connectionLost(RuntimeException reason) {
    disconnect();
    if (closed()) {
      return;
    }
    if (reason instanceof BadAnswer && ++malformed >= MALFORMED_MAX) {
      throw closedBy(reason);
    }
    scheduleRetry(null, reason);
  }

  private void scheduleRetry(@Nullable Duration retryAfter, RuntimeException reason) {
    var now = System.nanoTime();
    if (failures++ == 0) {
      outageSince = now;
    }
    if (failures == NOTICE_FAILURES) {
      notice.accept(String.valueOf(reason.getMessage()));
    }
    var wait = reconnect.delay(failures, retryAfter == null ? retryDelay : retryAfter, random);
    retryAt = now + wait.toNanos();
    if (now - outageSince > reconnect.patience().toNanos()) {
      // If the reader calls again, the retries start again.
      failures = 0;
      throw reason;
    }
  }

  private RuntimeException closedBy(RuntimeException reason) {
    close();
    return reason;
  }

  private void disconnect() {
    var open = streamConnection;
    streamConnection = null;
    if (open != null) {
      open.close();
    }
  }

  @Override
  public void close() {
    closing.countDown();
    var open = streamConnection;
    if (open != null) {
      open.close();
    }
  }

  private static Duration silence(Duration heartbeat) {
    // An interval of zero means that the server sends no heartbeats.
    return heartbeat.isZero()
        ? FOREVER
        : Duration.ofMillis(Math.round(heartbeat.toMillis() * HEARTBEATS_MISSED_MAX));
  }

  private static String text(Throwable reason) {
    return reason.getMessage() == null ? reason.getClass().getSimpleName() : reason.getMessage();
  }
}
