package dev.parley.door.a2a.push;

import dev.parley.a2a.PushTarget;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireState;
import dev.parley.door.FrameCursor;
import dev.parley.door.a2a.TaskFold;
import dev.parley.door.a2a.TaskFold.Told;
import dev.parley.door.a2a.TaskForm;
import dev.parley.log.EventLog;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.view.TaskView;
import dev.parley.view.Views;
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
final class Sender implements Runnable {

  private static final System.Logger LOG = System.getLogger(Sender.class.getName());
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final Duration STORE_EVERY = Duration.ofMillis(500);
  private static final int READ = 256;
  private static final int GONE = 410;

  /// The dependencies that all senders share.
  record Parts(
      EventLog log,
      Views views,
      TaskForm form,
      PushStore store,
      Post post,
      InstantSource clock,
      Backoff backoff) {}

  /// Sends a POST request and returns the HTTP status.
  @FunctionalInterface
  interface Post {
    int post(String url, Map<String, String> headers, byte[] body)
        throws IOException, InterruptedException;
  }

  private final Parts parts;
  private final TaskView task;
  private volatile Registration registration;
  private Registration stored;
  private long storedNanos = System.nanoTime();
  private Position position = Position.START;

  /// For webhooks of 0.3: the last status that was sent, and the cursor that it covers.
  private Notice.@Nullable Stand known;

  private @Nullable FrameCursor knownTo;

  Sender(Parts parts, TaskView task, Registration registration) {
    this.parts = parts;
    this.task = task;
    this.registration = registration;
    this.stored = registration;
  }

  /// The registration with its progress. For many threads.
  Registration registration() {
    return registration;
  }

  @Override
  public void run() {
    try {
      follow();
    } catch (InterruptedException told) {
      // The server stops, or the webhook was removed. The stored cursor says where to resume.
      Thread.currentThread().interrupt();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      forget();
    } finally {
      storeLast();
    }
  }

  /// Follows the task to its end. After a temporary failure, starts again later from the cursor.
  private void follow() throws InterruptedException {
    var failures = 0;
    var before = registration.cursor();
    while (open()) {
      try {
        followOnce();
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
        Thread.sleep(parts.backoff().pause(failures));
      }
    }
  }

  private void followOnce() throws InterruptedException {
    var fold = parts.form().begin(task, registration.version());
    position = TaskForm.before(task);
    while (open()) {
      tell(Notice.of(news(fold)));
      if (open() && fold.state().terminal()) {
        end(Registration.State.DONE);
      }
    }
  }

  private boolean open() {
    return registration.state() == Registration.State.OPEN;
  }

  /// Reads the items that were not sent yet. If there are none, waits for new entries.
  private List<Told> news(TaskFold fold) throws InterruptedException {
    var page = parts.log().read(registration.context(), position, READ);
    if (page.isEmpty()) {
      await();
      return List.of();
    }
    var after = registration.cursor().isEmpty() ? null : FrameCursor.parse(registration.cursor());
    var news = new ArrayList<Told>();
    for (var entry : page) {
      position = entry.position();
      for (var told : fold.take(entry)) {
        if (after == null || told.id().after(after)) {
          news.add(told);
        } else {
          learn(told);
        }
      }
      if (fold.state().terminal()) {
        break;
      }
    }
    if (fold.state() != WireState.SUBMITTED) {
      fold.forget();
    }
    return news;
  }

  /// Notes the status of an item that was sent earlier, or that is older than the registration.
  private void learn(Told told) {
    var stand = Notice.stand(told.item());
    if (stand != null && (knownTo == null || told.id().after(knownTo))) {
      known = stand;
    }
  }

  private void await() throws InterruptedException {
    if (registration.equals(stored)) {
      parts.log().await(registration.context(), position, WAIT);
    } else if (!parts.log().await(registration.context(), position, untilDue())) {
      store();
    }
  }

  private void tell(List<Notice> notices) throws InterruptedException {
    if (registration.version() == Version.V1_0) {
      for (var notice : notices) {
        deliver(notice.id(), notice.body());
        if (!open()) {
          return;
        }
        moveTo(notice.id());
      }
    } else if (!notices.isEmpty()) {
      tellWhole(notices);
      if (open()) {
        moveTo(notices.getLast().id());
      }
    }
  }

  /// Sends the current task, if the last of these notifications has a status that was not sent yet.
  private void tellWhole(List<Notice> notices) throws InterruptedException {
    var last =
        notices.reversed().stream().filter(one -> Notice.stand(one.item()) != null).findFirst();
    if (last.isEmpty()) {
      return;
    }
    var id = last.get().id();
    var told = knownTo != null && !id.after(knownTo);
    if (told || Objects.equals(Notice.stand(last.get().item()), known)) {
      return;
    }
    // Read the head first: the snapshot then covers at least the entries up to it.
    var head = FrameCursor.of(parts.log().head(registration.context()));
    var now = parts.form().snapshot(task, registration.version(), null, true);
    deliver(id, Notice.whole(now));
    known = Notice.stand(now);
    knownTo = head;
  }

  private void moveTo(FrameCursor id) {
    registration = registration.at(id.toString());
    if (untilDue().isZero()) {
      store();
    }
  }

  private Duration untilDue() {
    var left = STORE_EVERY.minusNanos(System.nanoTime() - storedNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /// Stores the progress, unless it is stored already.
  private void store() {
    var now = registration;
    if (!now.equals(stored)) {
      parts.store().advance(now);
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
          registration.id(),
          failed.getMessage());
    }
  }

  private void forget() {
    try {
      parts.store().forget(registration.context());
    } catch (Rejection.Unavailable later) {
      LOG.log(
          Level.WARNING,
          "webhook {0} is removed at the next start of the server: {1}",
          registration.id(),
          later.getMessage());
    }
  }

  /// Retries until the webhook accepts the request or is given up.
  private void deliver(FrameCursor id, byte[] body) throws InterruptedException {
    Instant since = null;
    for (var failures = 1; ; failures++) {
      var failure = attempt(id, body);
      if (failure == null || !open()) {
        return;
      }
      var now = parts.clock().instant();
      since = since == null ? now : since;
      if (parts.backoff().over(since, now)) {
        LOG.log(
            Level.WARNING,
            "gave up on webhook {0} of task {1}: {2}",
            registration.id(),
            registration.task(),
            failure);
        end(Registration.State.GIVEN_UP);
        return;
      }
      store();
      Thread.sleep(parts.backoff().pause(failures));
    }
  }

  /// Sends the request once. Returns null if it was accepted, else the reason.
  ///
  /// @throws Rejection.Gone if the context was deleted
  private @Nullable String attempt(FrameCursor id, byte[] body) throws InterruptedException {
    var _ = parts.log().head(registration.context());
    var target = registration.target();
    try {
      var headers = headers(target, registration.version(), id);
      var status = parts.post().post(target.url(), headers, body);
      if (status == GONE) {
        end(Registration.State.GIVEN_UP);
      }
      return status >= 200 && status < 300 ? null : "it answered " + status;
    } catch (IOException failed) {
      return String.valueOf(failed.getMessage());
    }
  }

  static Map<String, String> headers(PushTarget target, Version version, FrameCursor id) {
    var headers = new HashMap<String, String>();
    headers.put(
        "Content-Type", version == Version.V1_0 ? "application/a2a+json" : "application/json");
    headers.put(Version.HEADER, version.number());
    headers.put("X-A2A-Event-Id", id.toString());
    if (target.token() != null) {
      headers.put("X-A2A-Notification-Token", target.token());
    }
    if (target.scheme() != null && target.credentials() != null) {
      headers.put("Authorization", target.scheme() + " " + target.credentials());
    }
    return headers;
  }

  private void end(Registration.State how) {
    var ended = registration.ended(how);
    parts.store().advance(ended);
    stored = ended;
    registration = ended;
  }
}
