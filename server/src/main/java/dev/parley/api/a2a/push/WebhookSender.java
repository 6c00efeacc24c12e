package dev.parley.api.a2a.push;

import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.api.a2a.A2aTaskFold;
import dev.parley.api.a2a.A2aTaskFold.A2aStreamItem;
import dev.parley.api.a2a.A2aTaskReader;
import dev.parley.api.a2a.push.PushRegistration.PushState;
import dev.parley.http.OpenStreams;
import dev.parley.log.EventLog;
import dev.parley.net.Backoff;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskView;
import dev.parley.runtime.Time;
import dev.parley.stream.ContextSource;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.Subscription;
import dev.parley.tool.WebhookClient;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Sends the updates of one task to one webhook, in the order of the log.
///
/// It is a subscription to the task's context whose sink is the webhook. A failed request is retried
/// with growing delays before later updates are sent. Progress is stored twice per second and at
/// the end, and sending resumes there after a restart. Requests from just before a crash may be
/// repeated, with the same `X-A2A-Event-Id`. Webhooks of 0.3 receive the whole task whenever its
/// status changes. For one thread; an interrupt stops it.
final class WebhookSender
    implements Runnable,
        Subscription.Source<Position>,
        Subscription.Sink<Position, WebhookSender.TaskUpdates> {

  private static final System.Logger LOG = System.getLogger(WebhookSender.class.getName());
  private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(500), Duration.ofMinutes(1));

  /// How long a webhook may fail before retrying stops.
  private static final Duration PATIENCE = Duration.ofDays(1);

  private static final Duration STORE_EVERY = Duration.ofMillis(500);
  private static final int READ = 256;
  private static final int GONE = 410;

  /// The dependencies that all senders share. `slots` are for these senders only: they are not
  /// streams of clients.
  record WebhookSenderDependencies(
      EventLog log,
      A2aTaskReader taskReader,
      PushConfigStore store,
      WebhookClient client,
      OpenStreams slots,
      Time time) {}

  /// Notifications to send. `last` is true if the task has ended.
  record TaskUpdates(List<PushNotification> notifications, boolean last) {}

  private final WebhookSenderDependencies dependencies;
  private final TaskView task;
  private final ContextSource source;
  private volatile PushRegistration registration;
  private PushRegistration stored;
  private long storeAt;

  /// For webhooks of 0.3: the last status that was sent, and the cursor that it covers.
  private PushNotification.@Nullable PushedStatus knownStatus;

  private @Nullable FrameCursor knownCursor;

  WebhookSender(
      WebhookSenderDependencies dependencies, TaskView task, PushRegistration registration) {
    this.dependencies = dependencies;
    this.task = task;
    this.source = new ContextSource(dependencies.log(), registration.context());
    this.registration = registration;
    this.stored = registration;
    this.storeAt = dependencies.time().deadline(STORE_EVERY);
  }

  /// The registration with its progress. For many threads.
  PushRegistration registration() {
    return registration;
  }

  @Override
  public void run() {
    try (var slot = dependencies.slots().open()) {
      follow(slot);
    } catch (InterruptedException told) {
      // The server stops, or the webhook was removed. The stored cursor says where to resume.
      Thread.currentThread().interrupt();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      deleted(Position.START);
    } finally {
      storeLast();
    }
  }

  /// Follows the task to its end. After a temporary failure, starts again later from the cursor.
  private void follow(OpenStreams.StreamSlot slot) throws InterruptedException {
    var failures = 0;
    var before = registration.cursor();
    while (isOpen() && !slot.ended()) {
      try {
        if (subscribe(slot)) {
          return;
        }
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        throw deleted;
      } catch (Rejection failed) {
        failures = before.equals(registration.cursor()) ? failures + 1 : 1;
        before = registration.cursor();
        if (failures == 1) {
          LOG.log(
              Level.WARNING,
              "pushes to webhook {0} are delayed: {1}",
              registration.id(),
              failed.getMessage());
        }
        dependencies.time().sleep(BACKOFF.delay(failures));
      }
    }
  }

  /// Returns true if the context was deleted.
  private boolean subscribe(OpenStreams.StreamSlot slot) throws InterruptedException {
    var encoder =
        new UpdateEncoder(dependencies.taskReader().newFold(task, registration.version()));
    var parts =
        new Subscription.Parts<>(this, encoder, this, slot, dependencies.time(), Duration.ZERO);
    try {
      return new Subscription<>(parts, A2aTaskReader.startPosition(task)).run();
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible); // This sink retries instead.
    }
  }

  private boolean isOpen() {
    return registration.state() == PushState.OPEN;
  }

  @Override
  public Position start(Position requested) {
    return source.start(requested);
  }

  /// Waits for entries. Stores the progress meanwhile, when that is due.
  @Override
  public boolean await(Position position, Duration patience) throws InterruptedException {
    if (registration.equals(stored)) {
      return source.await(position, patience);
    }
    if (source.await(position, untilStoreDue())) {
      return true;
    }
    store();
    return false;
  }

  /// Reads the updates of the task that were not sent yet.
  private final class UpdateEncoder implements Subscription.Encoder<Position, TaskUpdates> {
    private final A2aTaskFold fold;

    UpdateEncoder(A2aTaskFold fold) {
      this.fold = fold;
    }

    @Override
    public boolean ended(Position position) {
      return !isOpen();
    }

    @Override
    public Subscription.Batch<Position, TaskUpdates> next(Position from) {
      var after = registration.cursor().isEmpty() ? null : FrameCursor.parse(registration.cursor());
      var news = new ArrayList<A2aStreamItem>();
      var position = from;
      for (var entry : dependencies.log().read(registration.context(), from, READ)) {
        position = entry.position();
        for (var item : fold.apply(entry)) {
          if (after == null || item.id().after(after)) {
            news.add(item);
          } else {
            noteKnown(item);
          }
        }
        if (fold.state().terminal()) {
          break;
        }
      }
      if (fold.state() != A2aState.SUBMITTED) {
        fold.discardHistory();
      }
      var last = fold.state().terminal();
      return new Subscription.Batch<>(
          news.isEmpty() && !last ? null : new TaskUpdates(PushNotification.of(news), last),
          position);
    }
  }

  /// Notes the status of an item that was sent earlier, or that is older than the registration.
  private void noteKnown(A2aStreamItem item) {
    var status = PushNotification.statusOf(item.item());
    if (status != null && (knownCursor == null || item.id().after(knownCursor))) {
      knownStatus = status;
    }
  }

  @Override
  public void send(TaskUpdates updates) throws InterruptedException {
    if (registration.version() == A2aVersion.V1_0) {
      for (var notification : updates.notifications()) {
        deliver(notification.id(), notification.body());
        advance(notification.id());
      }
    } else if (!updates.notifications().isEmpty()) {
      sendTask(updates.notifications());
      advance(updates.notifications().getLast().id());
    }
    if (isOpen() && updates.last()) {
      end(PushState.DONE);
    }
  }

  @Override
  public void deleted(Position position) {
    try {
      dependencies.store().removeContext(registration.context());
    } catch (Rejection.Unavailable later) {
      LOG.log(
          Level.WARNING,
          "webhook {0} is removed at the next start of the server: {1}",
          registration.id(),
          later.getMessage());
    }
  }

  /// Sends the current task, if the last of these notifications has a status that was not sent yet.
  private void sendTask(List<PushNotification> notifications) throws InterruptedException {
    var last =
        notifications.reversed().stream()
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
    var head = FrameCursor.of(dependencies.log().head(registration.context()));
    var now = dependencies.taskReader().snapshot(task, registration.version(), null, true);
    deliver(id, PushNotification.taskBody(now));
    knownStatus = PushNotification.statusOf(now);
    knownCursor = head;
  }

  /// Notes what the webhook has accepted, unless it was given up.
  private void advance(FrameCursor id) {
    if (isOpen()) {
      registration = registration.withCursor(id.toString());
      if (untilStoreDue().isZero()) {
        store();
      }
    }
  }

  private Duration untilStoreDue() {
    return Duration.ofNanos(Math.max(0, dependencies.time().remaining(storeAt)));
  }

  /// Stores the progress, unless it is stored already.
  private void store() {
    var now = registration;
    if (!now.equals(stored)) {
      dependencies.store().saveProgress(now);
      stored = now;
      storeAt = dependencies.time().deadline(STORE_EVERY);
    }
  }

  private void storeLast() {
    try {
      store();
    } catch (Rejection.Unavailable failed) {
      LOG.log(
          Level.WARNING,
          "the last pushes to webhook {0} may be repeated: {1}",
          registration.id(),
          failed.getMessage());
    }
  }

  /// Retries until the webhook accepts the request or is given up.
  private void deliver(FrameCursor id, byte[] body) throws InterruptedException {
    Instant since = null;
    for (var failures = 1; isOpen(); failures++) {
      var failure = attempt(id, body);
      if (failure == null || !isOpen()) {
        return;
      }
      var now = dependencies.time().instant();
      since = since == null ? now : since;
      if (since.plus(PATIENCE).isBefore(now)) {
        LOG.log(
            Level.WARNING,
            "gave up on webhook {0} of task {1}: {2}",
            registration.id(),
            registration.task(),
            failure);
        end(PushState.GIVEN_UP);
        return;
      }
      store();
      dependencies.time().sleep(BACKOFF.delay(failures));
    }
  }

  /// Sends the request once. Returns null if it was accepted, else the reason.
  ///
  /// @throws Rejection.Gone if the context was deleted
  private @Nullable String attempt(FrameCursor id, byte[] body) throws InterruptedException {
    var _ = dependencies.log().head(registration.context());
    var target = registration.target();
    try {
      var headers = headers(target, registration.version(), id);
      var status = dependencies.client().post(target.url(), headers, body);
      if (status == GONE) {
        end(PushState.GIVEN_UP);
      }
      return status >= 200 && status < 300 ? null : "it answered " + status;
    } catch (IOException failed) {
      return String.valueOf(failed.getMessage());
    }
  }

  private static Map<String, String> headers(
      PushNotificationConfig target, A2aVersion version, FrameCursor id) {
    var headers = new HashMap<String, String>();
    headers.put(
        "Content-Type", version == A2aVersion.V1_0 ? "application/a2a+json" : "application/json");
    headers.put(A2aVersion.HEADER, version.number());
    headers.put("X-A2A-Event-Id", id.toString());
    if (target.token() != null) {
      headers.put("X-A2A-Notification-Token", target.token());
    }
    if (target.scheme() != null && target.credentials() != null) {
      headers.put("Authorization", target.scheme() + " " + target.credentials());
    }
    return headers;
  }

  private void end(PushState how) {
    var ended = registration.withState(how);
    dependencies.store().saveProgress(ended);
    stored = ended;
    registration = ended;
  }
}
