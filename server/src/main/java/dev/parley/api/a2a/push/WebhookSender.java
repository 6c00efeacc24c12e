package dev.parley.api.a2a.push;

import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.api.a2a.A2aTaskFold;
import dev.parley.api.a2a.A2aTaskFold.A2aStreamItem;
import dev.parley.api.a2a.A2aTaskReader;
import dev.parley.http.FrameCursor;
import dev.parley.log.EventLog;
import dev.parley.projection.TaskView;
import dev.parley.projection.Views;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Sends the updates of one task to one webhook, in the order of the log.
///
/// A failed request is retried with growing delays before later updates are sent. Progress is
/// stored twice per second and at the end, and sending resumes there after a restart. Requests from
/// just before a crash may be repeated, with the same `X-A2A-Event-Id`. Webhooks of 0.3 receive the
/// whole task whenever its status changes. For one thread.
final class WebhookSender implements Runnable {

  private static final System.Logger LOG = System.getLogger(WebhookSender.class.getName());
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final Duration STORE_EVERY = Duration.ofMillis(500);
  private static final int READ = 256;
  private static final int GONE = 410;

  /// The dependencies that all senders share.
  record WebhookSenderDependencies(
      EventLog log,
      Views views,
      A2aTaskReader form,
      PushConfigStore store,
      WebhookPost post,
      InstantSource clock,
      PushBackoff backoff) {}

  /// Sends a POST request and returns the HTTP status.
  @FunctionalInterface
  interface WebhookPost {
    int post(String url, Map<String, String> headers, byte[] body)
        throws IOException, InterruptedException;
  }

  private final WebhookSenderDependencies webhookSenderDependencies;
  private final TaskView task;
  private volatile PushRegistration pushRegistration;
  private PushRegistration stored;
  private long storedNanos = System.nanoTime();
  private Position position = Position.START;

  /// For webhooks of 0.3: the last status that was sent, and the cursor that it covers.
  private PushNotification.@Nullable PushedStatus knownStatus;

  private @Nullable FrameCursor knownCursor;

  WebhookSender(
      WebhookSenderDependencies webhookSenderDependencies,
      TaskView task,
      PushRegistration pushRegistration) {
    this.webhookSenderDependencies = webhookSenderDependencies;
    this.task = task;
    this.pushRegistration = pushRegistration;
    this.stored = pushRegistration;
  }

  /// The registration with its progress. For many threads.
  PushRegistration registration() {
    return pushRegistration;
  }

  @Override
  public void run() {
    try {
      follow();
    } catch (InterruptedException told) {
      // The server stops, or the webhook was removed. The stored cursor says where to resume.
      Thread.currentThread().interrupt();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      removeContext();
    } finally {
      storeLast();
    }
  }

  /// Follows the task to its end. After a temporary failure, starts again later from the cursor.
  private void follow() throws InterruptedException {
    var failures = 0;
    var before = pushRegistration.cursor();
    while (isOpen()) {
      try {
        followOnce();
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        throw deleted;
      } catch (Rejection failed) {
        failures = before.equals(pushRegistration.cursor()) ? failures + 1 : 1;
        before = pushRegistration.cursor();
        if (failures == 1) {
          LOG.log(
              Level.WARNING,
              "pushes to webhook {0} are delayed: {1}",
              pushRegistration.id(),
              failed.getMessage());
        }
        Thread.sleep(webhookSenderDependencies.backoff().delay(failures));
      }
    }
  }

  private void followOnce() throws InterruptedException {
    var fold = webhookSenderDependencies.form().newFold(task, pushRegistration.version());
    position = A2aTaskReader.startPosition(task);
    while (isOpen()) {
      send(PushNotification.of(readNew(fold)));
      if (isOpen() && fold.state().terminal()) {
        end(PushRegistration.PushState.DONE);
      }
    }
  }

  private boolean isOpen() {
    return pushRegistration.state() == PushRegistration.PushState.OPEN;
  }

  /// Reads the items that were not sent yet. If there are none, waits for new entries.
  private List<A2aStreamItem> readNew(A2aTaskFold fold) throws InterruptedException {
    var page = webhookSenderDependencies.log().read(pushRegistration.context(), position, READ);
    if (page.isEmpty()) {
      await();
      return List.of();
    }
    var after =
        pushRegistration.cursor().isEmpty() ? null : FrameCursor.parse(pushRegistration.cursor());
    var news = new ArrayList<A2aStreamItem>();
    for (var entry : page) {
      position = entry.position();
      for (var a2aStreamItem : fold.apply(entry)) {
        if (after == null || a2aStreamItem.id().after(after)) {
          news.add(a2aStreamItem);
        } else {
          noteKnown(a2aStreamItem);
        }
      }
      if (fold.state().terminal()) {
        break;
      }
    }
    if (fold.state() != A2aState.SUBMITTED) {
      fold.discardHistory();
    }
    return news;
  }

  /// Notes the status of an item that was sent earlier, or that is older than the registration.
  private void noteKnown(A2aStreamItem a2aStreamItem) {
    var pushedStatus = PushNotification.statusOf(a2aStreamItem.item());
    if (pushedStatus != null && (knownCursor == null || a2aStreamItem.id().after(knownCursor))) {
      knownStatus = pushedStatus;
    }
  }

  private void await() throws InterruptedException {
    if (pushRegistration.equals(stored)) {
      webhookSenderDependencies.log().await(pushRegistration.context(), position, WAIT);
    } else if (!webhookSenderDependencies
        .log()
        .await(pushRegistration.context(), position, untilStoreDue())) {
      store();
    }
  }

  private void send(List<PushNotification> notices) throws InterruptedException {
    if (pushRegistration.version() == A2aVersion.V1_0) {
      for (var pushNotification : notices) {
        deliver(pushNotification.id(), pushNotification.body());
        if (!isOpen()) {
          return;
        }
        advance(pushNotification.id());
      }
    } else if (!notices.isEmpty()) {
      sendTask(notices);
      if (isOpen()) {
        advance(notices.getLast().id());
      }
    }
  }

  /// Sends the current task, if the last of these notifications has a status that was not sent yet.
  private void sendTask(List<PushNotification> notices) throws InterruptedException {
    var last =
        notices.reversed().stream()
            .filter(one -> PushNotification.statusOf(one.item()) != null)
            .findFirst();
    if (last.isEmpty()) {
      return;
    }
    var id = last.get().id();
    var told = knownCursor != null && !id.after(knownCursor);
    if (told || Objects.equals(PushNotification.statusOf(last.get().item()), knownStatus)) {
      return;
    }
    // Read the head first: the snapshot then covers at least the entries up to it.
    var head = FrameCursor.of(webhookSenderDependencies.log().head(pushRegistration.context()));
    var now =
        webhookSenderDependencies.form().snapshot(task, pushRegistration.version(), null, true);
    deliver(id, PushNotification.taskBody(now));
    knownStatus = PushNotification.statusOf(now);
    knownCursor = head;
  }

  private void advance(FrameCursor id) {
    pushRegistration = pushRegistration.withCursor(id.toString());
    if (untilStoreDue().isZero()) {
      store();
    }
  }

  private Duration untilStoreDue() {
    var left = STORE_EVERY.minusNanos(System.nanoTime() - storedNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /// Stores the progress, unless it is stored already.
  private void store() {
    var now = pushRegistration;
    if (!now.equals(stored)) {
      webhookSenderDependencies.store().saveProgress(now);
      stored = now;
      storedNanos = System.nanoTime();
    }
  }

  private void storeLast() {
    try {
      store();
    } catch (Rejection.Unavailable failed) {
      LOG.log(
          Level.WARNING,
          "the last pushes to webhook {0} may be repeated: {1}",
          pushRegistration.id(),
          failed.getMessage());
    }
  }

  private void removeContext() {
    try {
      webhookSenderDependencies.store().removeContext(pushRegistration.context());
    } catch (Rejection.Unavailable later) {
      LOG.log(
          Level.WARNING,
          "webhook {0} is removed at the next start of the server: {1}",
          pushRegistration.id(),
          later.getMessage());
    }
  }

  /// Retries until the webhook accepts the request or is given up.
  private void deliver(FrameCursor id, byte[] body) throws InterruptedException {
    Instant since = null;
    for (var failures = 1; ; failures++) {
      var failure = attempt(id, body);
      if (failure == null || !isOpen()) {
        return;
      }
      var now = webhookSenderDependencies.clock().instant();
      since = since == null ? now : since;
      if (webhookSenderDependencies.backoff().expired(since, now)) {
        LOG.log(
            Level.WARNING,
            "gave up on webhook {0} of task {1}: {2}",
            pushRegistration.id(),
            pushRegistration.task(),
            failure);
        end(PushRegistration.PushState.GIVEN_UP);
        return;
      }
      store();
      Thread.sleep(webhookSenderDependencies.backoff().delay(failures));
    }
  }

  /// Sends the request once. Returns null if it was accepted, else the reason.
  ///
  /// @throws Rejection.Gone if the context was deleted
  private @Nullable String attempt(FrameCursor id, byte[] body) throws InterruptedException {
    var _ = webhookSenderDependencies.log().head(pushRegistration.context());
    var target = pushRegistration.target();
    try {
      var headers = headers(target, pushRegistration.version(), id);
      var status = webhookSenderDependencies.post().post(target.url(), headers, body);
      if (status == GONE) {
        end(PushRegistration.PushState.GIVEN_UP);
      }
      return status >= 200 && status < 300 ? null : "it answered " + status;
    } catch (IOException failed) {
      return String.valueOf(failed.getMessage());
    }
  }

  static Map<String, String> headers(
      PushNotificationConfig target, A2aVersion a2aVersion, FrameCursor id) {
    var headers = new HashMap<String, String>();
    headers.put(
        "Content-Type",
        a2aVersion == A2aVersion.V1_0 ? "application/a2a+json" : "application/json");
    headers.put(A2aVersion.HEADER, a2aVersion.number());
    headers.put("X-A2A-Event-Id", id.toString());
    if (target.token() != null) {
      headers.put("X-A2A-Notification-Token", target.token());
    }
    if (target.scheme() != null && target.credentials() != null) {
      headers.put("Authorization", target.scheme() + " " + target.credentials());
    }
    return headers;
  }

  private void end(PushRegistration.PushState how) {
    var ended = pushRegistration.withState(how);
    webhookSenderDependencies.store().saveProgress(ended);
    stored = ended;
    pushRegistration = ended;
  }
}
