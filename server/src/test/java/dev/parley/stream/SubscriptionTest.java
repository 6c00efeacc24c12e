package dev.parley.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.OpenStreams;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A subscription with a list as its source, and a sink that records what it is told.
class SubscriptionTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  private final ManualTime time = new ManualTime();
  private final OpenStreams streams = new OpenStreams(1, time);
  private final OpenStreams.StreamSlot slot = streams.open();
  private final TextList texts = new TextList();
  private final RecordingSink sink = new RecordingSink();
  private final BlockingQueue<Object> results = new LinkedBlockingQueue<>();
  private Thread reader;

  @AfterEach
  void endTheReader() throws InterruptedException {
    slot.end();
    assertThat(reader.join(Duration.ofSeconds(20))).isTrue();
  }

  private void subscribe(int after) {
    var parts = new Subscription.Parts<>(texts, texts, sink, slot, time, HEARTBEAT);
    var subscription = new Subscription<>(parts, after);
    reader =
        Thread.ofVirtual()
            .name("reader")
            .start(
                () -> {
                  try {
                    results.add(subscription.run());
                  } catch (Exception failed) {
                    results.add(failed);
                  }
                });
  }

  @Test
  void past_events_come_first_and_new_ones_when_they_are_there() throws Exception {
    texts.add("a", "b");
    subscribe(1);

    assertThat(sink.next()).isEqualTo("open 1");
    assertThat(sink.next()).isEqualTo("send [b]");
    texts.add("c");
    assertThat(sink.next()).isEqualTo("send [c]");
  }

  @Test
  void a_heartbeat_follows_each_quiet_interval() throws Exception {
    subscribe(0);
    assertThat(sink.next()).isEqualTo("open 0");

    assertThat(time.awaitWait("reader")).isEqualTo(HEARTBEAT);
    time.advanceToWait("reader");
    assertThat(sink.next()).isEqualTo("heartbeat 0");
    time.awaitWait("reader");
    time.advance(HEARTBEAT.minusSeconds(1));
    texts.add("a");
    assertThat(sink.next()).isEqualTo("send [a]");
    // What is sent counts as a sign of life.
    assertThat(time.awaitWait("reader")).isEqualTo(HEARTBEAT);
  }

  @Test
  void a_cursor_that_does_not_exist_yet_is_reported() throws Exception {
    texts.add("a");
    subscribe(7);

    assertThat(sink.next()).isEqualTo("open 1");
    assertThat(sink.next()).isEqualTo("gap 1 7");
    texts.add("b");
    assertThat(sink.next()).isEqualTo("send [b]");
  }

  @Test
  void the_deletion_of_the_source_is_reported_and_ends_the_subscription() throws Exception {
    texts.add("a");
    subscribe(0);
    assertThat(sink.next()).isEqualTo("open 0");
    assertThat(sink.next()).isEqualTo("send [a]");

    texts.fail(new Rejection.Gone("deleted"));
    assertThat(sink.next()).isEqualTo("deleted 1");
    assertThat(results.poll(20, TimeUnit.SECONDS)).isEqualTo(true);
  }

  @Test
  void an_outage_ends_the_subscription_unless_the_sink_waits_for_its_end() throws Exception {
    sink.patient = true;
    subscribe(0);
    assertThat(sink.next()).isEqualTo("open 0");

    texts.fail(new Rejection.Unavailable("away"));
    assertThat(sink.next()).isEqualTo("unavailable");
    texts.add("a");
    assertThat(sink.next()).isEqualTo("send [a]");

    sink.patient = false;
    texts.fail(new Rejection.Unavailable("away"));
    assertThat(results.poll(20, TimeUnit.SECONDS)).isInstanceOf(Rejection.Unavailable.class);
  }

  @Test
  void a_subscription_whose_slot_ends_stops_waiting() throws Exception {
    subscribe(0);
    assertThat(sink.next()).isEqualTo("open 0");
    time.awaitWait("reader");

    slot.end();
    assertThat(results.poll(20, TimeUnit.SECONDS)).isEqualTo(false);
  }

  /// The cursor is the number of texts that were read. The monitor guards both fields.
  private final class TextList
      implements Subscription.Source<Integer>, Subscription.Encoder<Integer, List<String>> {
    private final List<String> all = new ArrayList<>();
    private Rejection failure;

    synchronized void add(String... more) {
      all.addAll(List.of(more));
      notifyAll();
    }

    /// The next wait ends with this failure.
    synchronized void fail(Rejection rejection) {
      failure = rejection;
      notifyAll();
    }

    @Override
    public synchronized Integer start(Integer requested) {
      return Math.min(requested, all.size());
    }

    @Override
    public synchronized boolean await(Integer cursor, Duration patience)
        throws InterruptedException {
      var deadline = time.deadline(patience);
      while (failure == null && all.size() <= cursor && time.remaining(deadline) > 0) {
        time.waitUntil(this, deadline);
      }
      if (failure != null) {
        var thrown = failure;
        failure = null;
        throw thrown;
      }
      return all.size() > cursor;
    }

    @Override
    public synchronized Subscription.Batch<Integer, List<String>> next(Integer cursor) {
      return new Subscription.Batch<>(List.copyOf(all.subList(cursor, all.size())), all.size());
    }
  }

  private static final class RecordingSink implements Subscription.Sink<Integer, List<String>> {
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private volatile boolean patient;

    String next() throws InterruptedException {
      return told.poll(20, TimeUnit.SECONDS);
    }

    @Override
    public boolean open(Integer start) {
      return told.add("open " + start);
    }

    @Override
    public void send(List<String> content) {
      told.add("send " + content);
    }

    @Override
    public void gap(Integer cursor, Integer requested) {
      told.add("gap " + cursor + " " + requested);
    }

    @Override
    public void deleted(Integer cursor) {
      told.add("deleted " + cursor);
    }

    @Override
    public void heartbeat(Integer cursor) {
      told.add("heartbeat " + cursor);
    }

    @Override
    public void unavailable(Rejection.Unavailable rejection) {
      if (!patient) {
        throw rejection;
      }
      told.add("unavailable");
    }
  }
}
