package dev.parley.client;

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

/// A context's events, in order, each once, however often the connection is lost.
///
/// It connects when the first event is asked for. After a cut, or when the server has been silent for
/// two and a half heartbeats, it connects again and goes on after the last event it saw. One thread
/// reads; any thread may [#close].
public final class EventStream implements AutoCloseable {

  private static final Duration FOREVER = Duration.ofDays(10_000);
  private static final Duration HEARTBEAT_USUAL = Duration.ofSeconds(15);
  private static final double HEARTBEATS_MISSED_MAX = 2.5;
  private static final int GARBLED_MAX = 3;
  private static final int FAILURES_TOLD = 2;

  private final Http http;
  private final ContextId context;
  private final StreamFilter filter;
  private final Reconnect reconnect;
  private final Consumer<String> notice;
  private final RandomGenerator random;
  private final Inbox inbox;

  private final CountDownLatch closing = new CountDownLatch(1);
  private volatile @Nullable Connection connection;

  private Duration silenceMax = silence(HEARTBEAT_USUAL);
  private @Nullable Duration asked;
  private int failures;
  private int garbled;
  private long outageSince;
  private long retryAt;
  private long connects;

  EventStream(
      Http http, Subscription subscription, ClientSettings settings, RandomGenerator random) {
    this.http = http;
    this.context = subscription.context();
    this.filter = subscription.filter();
    this.reconnect = settings.reconnect();
    this.notice = settings.notice();
    this.random = random;
    this.inbox = new Inbox(http, subscription);
  }

  /// What is read, where from.
  record Subscription(ContextId context, Position after, StreamFilter filter) {}

  /// Waits for the next event. Empty once the stream is closed.
  ///
  /// @throws StreamGap if the server cannot go on from here
  /// @throws Rejection if the server refuses, for instance because the context was deleted
  /// @throws Unreachable if no server was there for as long as [Reconnect] allows
  public Optional<Entry> next() throws InterruptedException {
    return next(FOREVER);
  }

  /// As [#next()], but also empty when `patience` has run out.
  public Optional<Entry> next(Duration patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    for (var tried = false; ; tried = true) {
      var entry = poll();
      if (entry.isPresent() || closed()) {
        return closed() ? Optional.empty() : entry;
      }
      var left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
      var open = connection;
      if (open != null) {
        var arrival = open.await(left, silenceMax);
        if (arrival == null) {
          return Optional.empty();
        }
        take(arrival);
      } else if (tried && left.isZero()) {
        return Optional.empty();
      } else {
        connect(left);
      }
    }
  }

  /// Gives every event to `reader`, until the stream is closed.
  public void forEach(Consumer<Entry> reader) throws InterruptedException {
    for (var entry = next(); entry.isPresent(); entry = next()) {
      reader.accept(entry.get());
    }
  }

  /// Where the reader stands: everything up to here was delivered, or was not asked for.
  public Position position() {
    return inbox.position();
  }

  /// How many events were passed over because this client is too old to know their kind.
  public long unknown() {
    return inbox.unknown();
  }

  /// Calls `hook` for every event that is passed over because its kind is not known here.
  public EventStream onUnknown(Consumer<ObjectNode> hook) {
    inbox.onUnknown(hook);
    return this;
  }

  /// How many events came twice, and were dropped.
  public long duplicates() {
    return inbox.duplicates();
  }

  /// How often the stream had to connect again.
  public long reconnects() {
    return Math.max(0, connects - 1);
  }

  /// True after [#close], or after an exception that no reconnecting would mend.
  public boolean closed() {
    return closing.getCount() == 0;
  }

  private Optional<Entry> poll() {
    try {
      return inbox.poll();
    } catch (Unreachable | Rejection.Busy | Rejection.Unavailable passing) {
      inbox.forgetGap();
      lost(passing);
      return Optional.empty();
    } catch (Rejection | StreamGap | BadAnswer permanent) {
      throw ended(permanent);
    }
  }

  private void connect(Duration patience) throws InterruptedException {
    if (failures > 0 && !waitForTurn(patience)) {
      return;
    }
    try {
      var query = filter.addTo(new Query("/api/contexts/" + context + "/stream"));
      var body = http.stream(Call.get(query.toString()), inbox.received().toString());
      connects++;
      silenceMax = silence(HEARTBEAT_USUAL);
      connection = new Connection(body);
      if (closed()) {
        disconnect();
      }
    } catch (Http.Failure failure) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (failure.permanent) {
        throw ended(failure.reason);
      }
      failed(failure.retryAfter, failure.reason);
    }
  }

  /// Waits as long as one should after a failure. False if `patience` is shorter, or it was closed.
  private boolean waitForTurn(Duration patience) throws InterruptedException {
    var wait = retryAt - System.nanoTime();
    var closed = closing.await(Math.min(wait, patience.toNanos()), TimeUnit.NANOSECONDS);
    return !closed && wait <= patience.toNanos();
  }

  private void take(Connection.Arrival arrival) {
    switch (arrival) {
      case Connection.Arrival.Frame(var frame) -> take(frame);
      case Connection.Arrival.Ended(var reason) ->
          lost(reason instanceof BadAnswer bad ? bad : http.unreachable(text(reason), reason));
      case Connection.Arrival.Silent _ ->
          lost(http.unreachable("silent for " + silenceMax.toMillis() + " ms", null));
    }
  }

  private void take(SseFrame frame) {
    try {
      if (frame.retry() != null) {
        asked = frame.retry();
      }
      switch (frame.event()) {
        case "stream-open" -> {
          silenceMax = silence(Inbox.heartbeat(frame, HEARTBEAT_USUAL));
          // The server is there, so patience starts afresh; the waits go on growing until it also
          // sends something, lest one that drops every reader be called without a pause.
          outageSince = System.nanoTime();
        }
        case "stream-gap" -> throw ended(Inbox.gap(frame));
        default -> {
          // Later servers may say other things about the stream itself; they are no facts.
          if (!frame.event().startsWith("stream-") && inbox.take(frame)) {
            failures = 0;
            garbled = 0;
          }
        }
      }
    } catch (BadAnswer bad) {
      lost(bad);
    }
  }

  private void lost(RuntimeException reason) {
    disconnect();
    if (closed()) {
      return;
    }
    if (reason instanceof BadAnswer && ++garbled >= GARBLED_MAX) {
      throw ended(reason);
    }
    failed(null, reason);
  }

  private void failed(@Nullable Duration retryAfter, RuntimeException reason) {
    var now = System.nanoTime();
    if (failures++ == 0) {
      outageSince = now;
    }
    if (failures == FAILURES_TOLD) {
      notice.accept(String.valueOf(reason.getMessage()));
    }
    var wait = reconnect.delay(failures, retryAfter == null ? asked : retryAfter, random);
    retryAt = now + wait.toNanos();
    if (now - outageSince > reconnect.patience().toNanos()) {
      // The reader may ask again, and then starts afresh.
      failures = 0;
      throw reason;
    }
  }

  private RuntimeException ended(RuntimeException reason) {
    close();
    return reason;
  }

  private void disconnect() {
    var open = connection;
    connection = null;
    if (open != null) {
      open.close();
    }
  }

  @Override
  public void close() {
    closing.countDown();
    var open = connection;
    if (open != null) {
      open.close();
    }
  }

  private static Duration silence(Duration heartbeat) {
    // An interval of zero says that there are no heartbeats.
    return heartbeat.isZero()
        ? FOREVER
        : Duration.ofMillis(Math.round(heartbeat.toMillis() * HEARTBEATS_MISSED_MAX));
  }

  private static String text(Throwable reason) {
    return reason.getMessage() == null ? reason.getClass().getSimpleName() : reason.getMessage();
  }
}
