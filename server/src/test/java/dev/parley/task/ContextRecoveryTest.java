package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The store fails while the tasks of the previous run are resumed.
@Timeout(60)
class ContextRecoveryTest {

  private static final ContextId FIRST = new ContextId("first");
  private static final ContextId SECOND = new ContextId("second");

  private final ManualTime time = new ManualTime();
  private final ContextRecovery recovery = new ContextRecovery(time, new SystemThreads());
  private final AtomicBoolean storeDown = new AtomicBoolean(true);
  private final Set<ContextId> recovered = ConcurrentHashMap.newKeySet();
  private final CountDownLatch all = new CountDownLatch(2);

  @AfterEach
  void close() {
    recovery.close();
  }

  private void recover(ContextId context) {
    if (storeDown.get()) {
      throw new Rejection.Unavailable("the database starts");
    }
    if (recovered.add(context)) {
      all.countDown();
    }
  }

  @Test
  void contexts_are_recovered_when_the_store_is_available_again() throws Exception {
    recovery.start(List.of(FIRST, SECOND), this::recover);
    time.awaitWait("recovery-0");
    time.awaitWait("recovery-1");
    assertThatThrownBy(() -> recovery.check(FIRST)).isInstanceOf(Rejection.Unavailable.class);

    storeDown.set(false);
    // A request does not wait for the next attempt.
    recovery.check(FIRST);
    assertThat(recovered).containsExactly(FIRST);
    time.advance(Duration.ofSeconds(1));

    all.await();
    recovery.check(SECOND);
  }

  @Test
  void a_context_that_cannot_be_recovered_for_another_reason_stays_rejected() {
    recovery.start(
        List.of(FIRST),
        _ -> {
          throw new Rejection.Damaged("a segment cannot be read");
        });
    recovery.await(FIRST);

    assertThatThrownBy(() -> recovery.check(FIRST)).isInstanceOf(Rejection.Damaged.class);
  }
}
