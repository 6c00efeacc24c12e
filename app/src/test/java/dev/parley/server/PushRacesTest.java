package dev.parley.server;

import static dev.parley.server.PushTest.CONFIG;
import static dev.parley.server.PushTest.PAUSE_MAX;
import static dev.parley.server.PushTest.call;
import static dev.parley.server.PushTest.configs;
import static dev.parley.server.PushTest.endPauses;
import static dev.parley.server.PushTest.expectNothingButANewTask;
import static dev.parley.server.PushTest.sendWithHook;
import static dev.parley.server.PushTest.sendWithNameless;
import static dev.parley.server.PushTest.taskOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.Threads;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Webhooks of A2A tasks that change while they are told something, and that nobody needs any more.
class PushRacesTest {

  @TempDir Path folder;
  @AutoClose final TestWebhook hook = new TestWebhook();
  private final ManualTime time = new ManualTime();
  private final PushThreads threads = new PushThreads();
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch free = new CountDownLatch(1);

  private TestServer open() {
    return TestServer.durable(folder, CONFIG, time, threads);
  }

  private void holdPosts() {
    hook.hold.set(
        () -> {
          held.countDown();
          await(free);
        });
  }

  @Test
  void tellsNothingMoreIfTheWebhookIsDeletedWhileItIsPostedTo() throws Exception {
    holdPosts();
    String task;
    try (var testServer = open()) {
      task =
          taskOf(
              call(
                  testServer,
                  "1.0",
                  "SendMessage",
                  sendWithNameless(hook, "tck-complete-task-1", "")));
      await(held);
      var named = Json.object().put("taskId", task).put("id", task);
      call(testServer, "1.0", "DeleteTaskPushNotificationConfig", named);
      assertThat(configs(testServer, task).size()).isZero();
      hook.hold.set(() -> {});
      free.countDown();
      assertThat(hook.answers.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
      assertThat(hook.seen).hasSize(1);
      expectNothingButANewTask(testServer, hook, time);
    }
    try (var testServer = open()) {
      assertThat(configs(testServer, task).size()).isZero();
    }
  }

  @Test
  void goesOnElsewhereIfTheTargetChangesWhileItIsPostedTo() throws Exception {
    holdPosts();
    try (var testServer = open()) {
      var params = sendWithNameless(hook, "tck-complete-task-1", "");
      var task = taskOf(call(testServer, "1.0", "SendMessage", params));
      await(held);
      hook.hold.set(() -> {});
      var moved = Json.object().put("taskId", task).put("url", hook.url()).put("token", "t-2");
      call(testServer, "1.0", "CreateTaskPushNotificationConfig", moved);
      var after = hook.untilEnd();
      free.countDown();

      // Nobody knows whether the post that was under way was taken, so it is made again.
      assertThat(after.getFirst().body().has("task")).isTrue();
      assertThat(after).allSatisfy(one -> assertThat(one.token()).isEqualTo("t-2"));
      assertThat(after.stream().map(TestWebhook.WebhookDelivery::id)).doesNotHaveDuplicates();
    }
  }

  @Test
  void forgetsWebhooksThirtyDaysAfterTheyWereTold() throws Exception {
    String task;
    try (var testServer = open()) {
      task =
          taskOf(call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1")));
      hook.untilEnd();
      // The webhook is stored as told before its thread ends.
      threads.awaitEnds();
    }
    time.advance(Duration.ofDays(29));
    try (var testServer = open()) {
      assertThat(configs(testServer, task).size()).isEqualTo(1);
    }
    time.advance(Duration.ofDays(2));
    try (var testServer = open()) {
      assertThat(configs(testServer, task).size()).isZero();
    }
  }

  @Test
  void goes_on_when_a_read_was_refused_for_whatever_reason() throws Exception {
    var refusals = new AtomicInteger(1);
    try (var testServer = TestServer.open(folder, CONFIG, time, log -> refusing(log, refusals))) {
      call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1"));
      endPauses(time, 1);

      assertThat(hook.untilEnd()).isNotEmpty();
      assertThat(refusals.get()).isLessThan(1);
    }
  }

  @Test
  void gives_up_on_a_webhook_that_has_failed_for_a_day() throws Exception {
    hook.refusals.set(Integer.MAX_VALUE);
    try (var testServer = open()) {
      call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1"));
      time.awaitWait("push w1", PAUSE_MAX);
      time.setClock(time.instant().plus(Duration.ofDays(1)).plusSeconds(1));
      endPauses(time, 1);

      threads.awaitEnds();
      assertThat(hook.refused.get()).isEqualTo(2);
    }
  }

  /// Refuses some reads of those that tell webhooks.
  private static EventLog refusing(EventLog log, AtomicInteger refusals) {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              if (method.getName().equals("read")
                  && Thread.currentThread().getName().startsWith("push ")
                  && refusals.getAndDecrement() > 0) {
                throw new Rejection.Busy("busy", "not now");
              }
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }

  /// Threads of the JVM. A test can wait for the ends of those that send to webhooks.
  private static final class PushThreads implements Threads {
    private final Threads all = new SystemThreads();
    private final Queue<Thread> senders = new ConcurrentLinkedQueue<>();

    @Override
    public Thread unstarted(String name, Runnable work) {
      var thread = all.unstarted(name, work);
      if (name.startsWith("push ")) {
        senders.add(thread);
      }
      return thread;
    }

    @Override
    public ThreadFactory factory(String prefix) {
      return all.factory(prefix);
    }

    @Override
    public ThreadFactory platformFactory(String name) {
      return all.platformFactory(name);
    }

    void awaitEnds() throws InterruptedException {
      for (var sender : senders) {
        assertThat(sender.join(Duration.ofSeconds(20))).isTrue();
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException told) {
      throw new AssertionError(told);
    }
  }
}
