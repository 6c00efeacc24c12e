package dev.parley.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// A cache with many readers.
class PageCacheTest {

  private final PageCache<String, String> pageCache = new PageCache<>(10, String::length);
  private final AtomicInteger made = new AtomicInteger();

  private String page(String key, String text) throws InterruptedException {
    return pageCache.get(
        key,
        () -> {
          made.incrementAndGet();
          return text;
        });
  }

  @Test
  void a_page_is_made_once_for_all_who_come_while_it_is_made_and_after() throws Exception {
    var begun = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    var found = new ConcurrentLinkedQueue<String>();
    var threads = new ArrayList<Thread>();
    for (var i = 0; i < 20; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      found.add(
                          pageCache.get(
                              "a",
                              () -> {
                                made.incrementAndGet();
                                begun.countDown();
                                await(goOn);
                                return "page";
                              }));
                    } catch (InterruptedException told) {
                      Thread.currentThread().interrupt();
                    }
                  }));
    }
    begun.await();
    goOn.countDown();
    for (var thread : threads) {
      thread.join();
    }
    assertThat(found).hasSize(20).containsOnly("page");
    assertThat(page("a", "another")).isEqualTo("page");
    assertThat(made).hasValue(1);
  }

  @Test
  void the_oldest_go_when_there_is_too_much() throws Exception {
    for (var i = 0; i < 100; i++) {
      page("key" + i, "four");
      assertThat(pageCache.weight()).isLessThanOrEqualTo(10);
    }
    assertThat(page("key99", "new")).isEqualTo("four");
    assertThat(page("key98", "new")).isEqualTo("four");
    assertThat(page("key97", "new")).isEqualTo("new");
    assertThat(page("large", "much too large")).isEqualTo("much too large");
    assertThat(pageCache.weight()).isZero();
  }

  @Test
  void what_is_empty_or_failed_is_asked_for_again() throws Exception {
    page("a", "");
    assertThat(page("a", "more")).isEqualTo("more");
    assertThatThrownBy(
            () ->
                pageCache.get(
                    "b",
                    () -> {
                      throw new Rejection.Unavailable("not now");
                    }))
        .isInstanceOf(Rejection.Unavailable.class);
    assertThat(page("b", "now")).isEqualTo("now");
  }

  @Test
  void what_is_forgotten_is_gone_even_if_somebody_was_just_reading_it() throws Exception {
    page("gone", "four");
    page("stays", "four");
    pageCache.forget("gone"::equals);
    assertThat(pageCache.weight()).isEqualTo(4);
    assertThat(page("stays", "new")).isEqualTo("four");

    pageCache.get(
        "gone",
        () -> {
          pageCache.forget("gone"::equals);
          return "old";
        });
    var era = pageCache.generation();
    pageCache.forget("next"::equals);
    pageCache.put("next", "old", era);
    assertThat(pageCache.weight()).isEqualTo(4);
    assertThat(page("gone", "new")).isEqualTo("new");
    assertThat(page("next", "new")).isEqualTo("new");
  }

  @Test
  void a_page_that_was_put_is_found_but_replaces_none() throws Exception {
    pageCache.put("a", "put", pageCache.generation());
    pageCache.put("a", "again", pageCache.generation());
    assertThat(page("a", "made")).isEqualTo("put");
    assertThat(made).hasValue(0);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
  }
}
