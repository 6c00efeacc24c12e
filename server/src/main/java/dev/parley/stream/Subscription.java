package dev.parley.stream;

import dev.parley.http.OpenStreams;
import dev.parley.log.EventLog;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Sends everything that follows a cursor to one reader: past events first, then new ones.
///
/// A subscription is a cursor and a wait. There is no queue, so a slow reader costs no memory, and a
/// reader that comes back continues where it was. It holds no lock and no database statement while
/// it sends. The source tells where events come from and waits for them, the encoder reads them and
/// turns them into content, and the sink sends the content and controls the flow.
///
/// [#run] blocks its thread while it waits. [#runUntilIdle] does not: a stream that calls it again
/// after each change waits without a thread (see [LiveStream]). For one thread at a time, except
/// [#cursor] and [#heartbeatAt].
///
/// @param <C> the cursor of the source
/// @param <B> the content that the encoder creates and the sink sends
public final class Subscription<C, B> {

  private static final Duration FOR_EVER = Duration.ofDays(1);

  /// Where events come from: one context, or all contexts.
  public interface Source<C> {

    /// The cursor at which a reader starts that asked for `requested`: the same, or an earlier one
    /// if that does not exist yet.
    ///
    /// @throws Rejection.Gone if the context is deleted
    default C start(C requested) {
      return requested;
    }

    /// Waits until there may be events after `cursor`. False if `patience` ran out first.
    ///
    /// @throws Rejection.Gone if the context is deleted
    boolean await(C cursor, Duration patience) throws InterruptedException;

    /// Calls `listener` when there may be new events, until the result is closed. It must not block.
    /// Null if this source only lets threads wait.
    default EventLog.@Nullable ChangeRegistration listen(Runnable listener) {
      return null;
    }

    /// The cursor at which a reader continues if events after its cursor are no longer available.
    default C skip(Rejection.Invalid lost) {
      throw lost;
    }
  }

  /// Reads events and turns them into content.
  @FunctionalInterface
  public interface Encoder<C, B> {

    /// The content that follows `cursor`, about as much as a sink sends at once.
    ///
    /// @throws Rejection.Gone if the context is deleted
    /// @throws Rejection.Invalid if events after the cursor are no longer available
    Batch<C, B> next(C cursor) throws InterruptedException;

    /// Does the same, if that needs neither the store nor another thread. Null otherwise. If nothing
    /// follows, the result has no content and the same cursor.
    default @Nullable Batch<C, B> nextInMemory(C cursor, Memo memo) throws InterruptedException {
      return null;
    }

    /// True if nothing follows `cursor`, now or later.
    default boolean ended(C cursor) {
      return false;
    }
  }

  /// What an encoder leaves for the next one on the same thread: most readers need the same content.
  /// For one thread.
  public static final class Memo {
    private @Nullable Object value;

    @Nullable Object value() {
      return value;
    }

    void set(Object newValue) {
      value = newValue;
    }
  }

  /// Content, and the cursor after it. `content` is null if there is nothing to send.
  public record Batch<C, B>(@Nullable B content, C reached) {}

  /// Sends content to the reader.
  public interface Sink<C, B> {

    /// Sends the first frame, if the protocol has one.
    ///
    /// @return false if nothing was sent
    default boolean open(C start) throws IOException, InterruptedException {
      return false;
    }

    /// Sends content, and returns when it is handed over.
    void send(B content) throws IOException, InterruptedException;

    /// Reports that events are missing before `cursor`. `requested` is the cursor that the reader
    /// asked for.
    default void gap(C cursor, C requested) throws IOException, InterruptedException {}

    /// Reports that the context was deleted. Nothing follows.
    default void deleted(C cursor) throws IOException, InterruptedException {}

    /// Nothing was sent for the heartbeat interval.
    default void heartbeat(C cursor) throws IOException, InterruptedException {}

    /// Waits until the reader accepts content. False if `patience` ran out first.
    default boolean awaitRoom(Duration patience) throws InterruptedException {
      return true;
    }

    /// Called before content is read. A connection with several subscriptions takes a permit here,
    /// so that only one of them holds content in memory.
    default void acquire() throws InterruptedException {}

    /// Called after the content was sent.
    default void release() {}

    /// The store is temporarily unavailable. The subscription ends, unless this method returns.
    default void unavailable(Rejection.Unavailable failure) {
      throw failure;
    }
  }

  private final Source<C> source;
  private final Encoder<C, B> encoder;
  private final Sink<C, B> sink;
  private final OpenStreams.StreamSlot slot;
  private final Time time;
  private final Duration heartbeat;
  private final OpenStreams.InterruptibleWait wait = this::awaitNews;
  private final OpenStreams.HeartbeatWriter probe = this::sendHeartbeat;
  private volatile C cursor;
  private boolean started;

  /// When the next heartbeat is due: at once, unless something else is sent first.
  private volatile long heartbeatAt;

  /// The parts of a subscription.
  ///
  /// @param slot ends the subscription; the caller closes it
  /// @param heartbeat the interval of heartbeats; zero for none
  public record Parts<C, B>(
      Source<C> source,
      Encoder<C, B> encoder,
      Sink<C, B> sink,
      OpenStreams.StreamSlot slot,
      Time time,
      Duration heartbeat) {}

  /// A subscription of a reader that has everything up to `after`.
  public Subscription(Parts<C, B> parts, C after) {
    this.source = parts.source();
    this.encoder = parts.encoder();
    this.sink = parts.sink();
    this.slot = parts.slot();
    this.time = parts.time();
    this.heartbeat = parts.heartbeat();
    this.cursor = after;
    this.heartbeatAt = time.nanos();
  }

  /// Sends, on the calling thread, until the encoder ends, the context is deleted, or the slot is
  /// ended.
  ///
  /// @return true if the context was deleted
  public boolean run() throws IOException, InterruptedException {
    try {
      // Starts even if the slot was ended: the first frame is part of the protocol.
      do {
        try {
          step();
        } catch (Rejection.Unavailable failure) {
          sink.unavailable(failure);
        }
      } while (!slot.ended() && !(started && encoder.ended(cursor)));
      return false;
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      sink.deleted(cursor);
      return true;
    }
  }

  /// Sends, on the calling thread, until there is nothing more to send at the moment.
  ///
  /// @return false if the subscription has ended
  public boolean runUntilIdle() throws IOException, InterruptedException {
    try {
      if (!started) {
        start();
      }
      while (!slot.ended() && !encoder.ended(cursor)) {
        if (source.await(cursor, Duration.ZERO)) {
          advance();
        } else if (!slot.probe(probe)) {
          if (!heartbeatDue()) {
            return true;
          }
          sendHeartbeat();
        }
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      sink.deleted(cursor);
    }
    return false;
  }

  /// The content that follows, for a caller that sends it. Null if [#runUntilIdle] must be called
  /// instead: there is something else to do than to send new events, or their content is not in
  /// memory.
  @Nullable Batch<C, B> nextInMemory(Memo memo) throws InterruptedException {
    if (!started || slot.signaled() || encoder.ended(cursor) || heartbeatDue()) {
      return null;
    }
    var batch = encoder.nextInMemory(cursor, memo);
    if (batch != null) {
      cursor = batch.reached();
      if (batch.content() != null) {
        sent();
      }
    }
    return batch;
  }

  Source<C> source() {
    return source;
  }

  /// When the next heartbeat is due, as [Time#nanos] counts. For many threads.
  long heartbeatAt() {
    return heartbeatAt;
  }

  /// The cursor after everything that was sent, or is being sent now. For many threads.
  public C cursor() {
    return cursor;
  }

  private void step() throws IOException, InterruptedException {
    if (!started) {
      start();
    } else if (slot.await(wait)) {
      advance();
    } else if (!slot.probe(probe) && !slot.ended() && heartbeatDue()) {
      sendHeartbeat();
    }
  }

  private void start() throws IOException, InterruptedException {
    var requested = cursor;
    cursor = source.start(requested);
    started = true;
    if (sink.open(cursor)) {
      sent();
    }
    if (!cursor.equals(requested)) {
      sink.gap(cursor, requested);
      sent();
    }
  }

  private boolean awaitNews() throws InterruptedException {
    return sink.awaitRoom(timeToHeartbeat()) && source.await(cursor, timeToHeartbeat());
  }

  private void advance() throws IOException, InterruptedException {
    sink.acquire();
    try {
      if (slot.ended()) {
        return;
      }
      var batch = encoder.next(cursor);
      // Sent even if the slot was ended meanwhile: the reader has everything up to the cursor.
      cursor = batch.reached();
      if (batch.content() != null) {
        sink.send(batch.content());
        sent();
      }
    } catch (Rejection.Invalid lost) {
      var requested = cursor;
      cursor = source.skip(lost);
      sink.gap(cursor, requested);
      sent();
    } finally {
      sink.release();
    }
    if (heartbeatDue()) {
      sendHeartbeat();
    }
  }

  private void sendHeartbeat() throws IOException {
    try {
      sink.heartbeat(cursor);
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      slot.end();
    }
    sent();
  }

  private void sent() {
    heartbeatAt = time.deadline(heartbeat);
  }

  private boolean heartbeatDue() {
    return heartbeat.isPositive() && time.remaining(heartbeatAt) <= 0;
  }

  private Duration timeToHeartbeat() {
    return heartbeat.isPositive()
        ? Duration.ofNanos(Math.max(0, time.remaining(heartbeatAt)))
        : FOR_EVER;
  }
}
