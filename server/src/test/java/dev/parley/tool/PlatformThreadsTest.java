package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PlatformThreadsTest {

  private final PlatformThreads threads = new PlatformThreads();

  @Test
  void work_runs_on_a_platform_thread_with_the_class_loader_of_its_caller() throws Exception {
    var loader = new ClassLoader(getClass().getClassLoader()) {};
    var seen = new CompletableFuture<Thread>();
    var caller =
        Thread.ofVirtual()
            .unstarted(
                () -> {
                  try {
                    seen.complete(threads.call("a", "tool-a", _ -> Thread.currentThread()));
                  } catch (InterruptedException stopped) {
                    seen.completeExceptionally(stopped);
                  }
                });
    caller.setContextClassLoader(loader);
    caller.start();

    var thread = seen.get();
    assertThat(thread.isVirtual()).isFalse();
    assertThat(thread.isDaemon()).isTrue();
    assertThat(thread.getName()).isEqualTo("tool-a");
    assertThat(thread.getContextClassLoader()).isSameAs(loader);
  }

  @Test
  void calls_wait_for_a_place_and_one_that_waits_for_a_person_gives_its_place_away()
      throws Exception {
    var end = new CountDownLatch(1);
    var ask = new CountDownLatch(1);
    var full = new CountDownLatch(PlatformThreads.RUNNING_MAX);
    for (var i = 0; i < PlatformThreads.RUNNING_MAX; i++) {
      var first = i == 0;
      var _ =
          start(
              runPermit -> {
                full.countDown();
                if (first) {
                  ask.await();
                  runPermit.yieldToOthers();
                }
                end.await();
                return true;
              });
    }
    full.await();
    var last = start(_ -> true);
    while (threads.waiting() == 0) {
      Thread.onSpinWait();
    }
    assertThat(last).isNotDone();
    ask.countDown();

    assertThat(last.get()).isTrue();
    end.countDown();
  }

  @Test
  void what_the_work_throws_reaches_the_caller() {
    assertThatThrownBy(
            () ->
                threads.call(
                    "a",
                    "tool-a",
                    _ -> {
                      throw new IllegalArgumentException("on purpose");
                    }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("on purpose");
    assertThatThrownBy(
            () ->
                threads.call(
                    "a",
                    "tool-a",
                    _ -> {
                      throw new StackOverflowError();
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasCauseInstanceOf(StackOverflowError.class);
  }

  private CompletableFuture<Boolean> start(PlatformThreads.ToolWork<Boolean> work) {
    var result = new CompletableFuture<Boolean>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                result.complete(threads.call("a", "tool-a", work));
              } catch (InterruptedException stopped) {
                result.completeExceptionally(stopped);
              }
            });
    return result;
  }
}
