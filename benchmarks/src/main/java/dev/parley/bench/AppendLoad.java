package dev.parley.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/// Many contexts that stream tokens. Each has a virtual thread, which waits until a token is
/// durable before it appends the next one.
///
/// The indexes of a context continue from run to run.
final class AppendLoad {

  private final DurableAppender to;
  private final SampleText sampleText;
  private final int[] next;

  AppendLoad(DurableAppender to, SampleText sampleText, int contexts) {
    this.to = to;
    this.sampleText = sampleText;
    this.next = new int[contexts];
  }

  /// Appends as fast as acknowledgements arrive. Returns tokens per second.
  double atFullSpeed(Duration time) throws InterruptedException {
    var done = new LongAdder();
    var begin = System.nanoTime();
    var end = begin + time.toNanos();
    eachContext(
        context -> {
          do {
            appendNext(context);
            done.increment();
          } while (System.nanoTime() < end);
        });
    return done.sum() / ((System.nanoTime() - begin) / 1e9);
  }

  /// Appends `each` tokens in every context.
  void append(int each) throws InterruptedException {
    eachContext(
        context -> {
          for (var i = 0; i < each; i++) {
            appendNext(context);
          }
        });
  }

  /// Appends at a fixed rate of `rate` tokens per second, and times every acknowledgement.
  ///
  /// A time starts when the token is due, so that a delay of the log also counts for the tokens
  /// that wait behind it.
  LatencyHistogram atFixedRate(double rate, Duration time) throws InterruptedException {
    var times = new LatencyHistogram();
    var interval = (long) (next.length * 1e9 / rate);
    var begin = System.nanoTime();
    eachContext(
        context -> {
          var due = begin + interval * context / next.length;
          while (due - begin < time.toNanos()) {
            var early = due - System.nanoTime();
            if (early > 0) {
              LockSupport.parkNanos(early);
            } else {
              appendNext(context);
              times.add(System.nanoTime() - due);
              due += interval;
            }
          }
        });
    return times;
  }

  private void appendNext(int context) {
    var index = next[context]++;
    to.append(context, index, sampleText.piece(context, index));
  }

  private interface Work {
    void run(int context);
  }

  private void eachContext(Work work) throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (var i = 0; i < next.length; i++) {
      var context = i;
      threads.add(Thread.ofVirtual().start(() -> work.run(context)));
    }
    for (var thread : threads) {
      thread.join();
    }
  }
}
