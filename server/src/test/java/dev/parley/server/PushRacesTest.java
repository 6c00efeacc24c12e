package dev.parley.server;

import static dev.parley.server.PushTest.CONFIG;
import static dev.parley.server.PushTest.call;
import static dev.parley.server.PushTest.configs;
import static dev.parley.server.PushTest.expectNothingButANewTask;
import static dev.parley.server.PushTest.sendWithHook;
import static dev.parley.server.PushTest.sendWithNameless;
import static dev.parley.server.PushTest.taskOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Webhooks of A2A tasks that change while they are told something, and that nobody needs any more.
class PushRacesTest {

  @TempDir Path folder;
  @AutoClose final TestWebhook hook = new TestWebhook();
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch free = new CountDownLatch(1);

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
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, CONFIG)) {
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
      assertThat(hook.seen).hasSize(1);
      expectNothingButANewTask(testServer, hook);
    }
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, CONFIG)) {
      assertThat(configs(testServer, task).size()).isZero();
    }
  }

  @Test
  void goesOnElsewhereIfTheTargetChangesWhileItIsPostedTo() throws Exception {
    holdPosts();
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, CONFIG)) {
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
    var clock = new AtomicReference<>(Instant.now());
    String task;
    try (var testServer = TestServer.durable(folder, CONFIG, clock::get)) {
      task =
          taskOf(call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1")));
      hook.untilEnd();
      awaitNoneOpen();
    }
    clock.updateAndGet(now -> now.plus(Duration.ofDays(29)));
    try (var testServer = TestServer.durable(folder, CONFIG, clock::get)) {
      assertThat(configs(testServer, task).size()).isEqualTo(1);
    }
    clock.updateAndGet(now -> now.plus(Duration.ofDays(2)));
    try (var testServer = TestServer.durable(folder, CONFIG, clock::get)) {
      assertThat(configs(testServer, task).size()).isZero();
    }
  }

  /// The last post has been made before it is written down that it was.
  @Test
  void goes_on_when_a_read_was_refused_for_whatever_reason() throws Exception {
    var refusals = new AtomicInteger(1);
    try (var testServer = TestServer.open(folder, CONFIG, log -> refusing(log, refusals))) {
      call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1"));

      assertThat(hook.untilEnd()).isNotEmpty();
      assertThat(refusals.get()).isLessThan(1);
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

  private void awaitNoneOpen() throws SQLException {
    try (var store = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("data/push.db"));
        var open = store.prepareStatement("SELECT count(*) FROM targets WHERE state = 'OPEN'")) {
      while (count(open) > 0) {
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  private static long count(PreparedStatement query) throws SQLException {
    try (var rows = query.executeQuery()) {
      rows.next();
      return rows.getLong(1);
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
