package dev.parley.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ManualTimeTest {

  private final ManualTime time = new ManualTime();

  @Test
  void time_stands_until_a_test_moves_it() {
    assertThat(time.instant()).isEqualTo(ManualTime.START);

    time.advance(Duration.ofHours(2));

    assertThat(time.instant()).isEqualTo(ManualTime.START.plusSeconds(7_200));
    assertThat(time.nanos()).isEqualTo(Duration.ofHours(2).toNanos());
  }

  @Test
  void timers_run_in_the_order_of_their_ends_and_canceled_ones_do_not() throws Exception {
    try (var threads = new SeededThreads(1)) {
      var ordered = new ManualTime(threads);
      var ran = Collections.synchronizedList(new ArrayList<String>());
      ordered.schedule("late", Duration.ofSeconds(2), () -> ran.add("late"));
      ordered.schedule("early", Duration.ofSeconds(1), () -> ran.add("early"));
      ordered.schedule("never", Duration.ofSeconds(1), () -> ran.add("never")).cancel();

      ordered.advance(Duration.ofMillis(1_500));
      threads.awaitIdle();
      assertThat(ran).containsExactly("early");

      ordered.advance(Duration.ofSeconds(1));
      threads.awaitIdle();
      assertThat(ran).containsExactly("early", "late");
    }
  }

  @Test
  void a_sleeping_thread_wakes_at_its_time() throws Exception {
    var woken = new CountDownLatch(1);
    new SystemThreads()
        .start(
            "sleeper",
            () -> {
              try {
                time.sleep(Duration.ofDays(1));
                woken.countDown();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });

    assertThat(time.awaitWait("sleeper")).isEqualTo(Duration.ofDays(1));
    time.advance(Duration.ofHours(23));
    assertThat(woken.getCount()).isEqualTo(1);
    time.advanceToWait("sleeper");
    woken.await();
  }

  @Test
  void time_moves_from_wait_to_wait_until_the_work_is_done() {
    var work =
        ManualTime.start(
            "worker",
            () -> {
              for (var hours = 1; hours <= 3; hours++) {
                time.sleep(Duration.ofHours(hours));
              }
              return "done";
            });

    assertThat(time.advanceUntil(work, "worker")).isEqualTo("done");
    assertThat(time.nanos()).isEqualTo(Duration.ofHours(6).toNanos());
  }

  @Test
  void the_same_seed_repeats_the_same_order() throws Exception {
    assertThat(order(7)).isEqualTo(order(7));
    assertThat(List.of(order(1), order(2), order(3), order(4)))
        .anyMatch(each -> !each.equals(List.of(0, 1, 2, 3, 4, 5, 6, 7)));
  }

  private static List<Integer> order(long seed) throws InterruptedException {
    var ran = Collections.synchronizedList(new ArrayList<Integer>());
    try (var threads = new SeededThreads(seed)) {
      var all =
          threads.unstarted(
              "starter",
              () -> {
                for (var i = 0; i < 8; i++) {
                  var number = i;
                  threads.start("thread-" + i, () -> ran.add(number));
                }
              });
      all.start();
      threads.awaitIdle();
    }
    return ran;
  }
}
