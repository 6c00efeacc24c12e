package dev.parley.door.a2a.push;

import dev.parley.a2a.PushTarget;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireState;
import dev.parley.door.a2a.FrameId;
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
import org.jspecify.annotations.Nullable;

/// Tells one webhook of one task: a position in the log and a wait, as every reader, in the order of the log.
///
/// A post that is not taken is made again, later and later, before anything after it. How far it has come is
/// stored, so that it goes on there after a restart; a post that was taken just before a crash may be made twice, with
/// the same `X-A2A-Event-Id`. For one thread.
final class Sender implements Runnable {

  private static final System.Logger LOG = System.getLogger(Sender.class.getName());
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final int READ = 256;
  private static final int GONE = 410;

  /// What all senders work with.
  record Parts(
      EventLog log,
      Views views,
      TaskForm form,
      PushStore store,
      Post post,
      InstantSource clock,
      Backoff backoff) {}

  /// Posts, and says with which status that was answered.
  @FunctionalInterface
  interface Post {
    int post(String url, Map<String, String> headers, byte[] body)
        throws IOException, InterruptedException;
  }

  private final Parts parts;
  private final TaskView task;
  private Registration registration;
  private final TaskFold fold;
  private Position position;

  Sender(Parts parts, TaskView task, Registration registration) {
    this.parts = parts;
    this.task = task;
    this.registration = registration;
    this.fold = parts.form().begin(task, registration.version());
    this.position = TaskForm.before(task);
  }

  @Override
  public void run() {
    try {
      while (registration.state() == Registration.State.OPEN) {
        tell(Notice.of(news()));
        if (registration.state() == Registration.State.OPEN && fold.state().terminal()) {
          end(Registration.State.DONE);
        }
      }
    } catch (InterruptedException told) {
      // The server stops, or the webhook was removed; what is stored says where to go on.
      Thread.currentThread().interrupt();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      parts.store().forget(registration.context());
    } catch (Rejection.Unavailable failed) {
      LOG.log(
          Level.WARNING,
          "pushes to {0} stop until the server starts again: {1}",
          registration.id(),
          failed.getMessage());
    }
  }

  /// What the log has of the task that the webhook does not know yet; waits for more if that is nothing.
  private List<Told> news() throws InterruptedException {
    var page = parts.log().read(registration.context(), position, READ);
    if (page.isEmpty()) {
      parts.log().await(registration.context(), position, WAIT);
      return List.of();
    }
    var after = registration.cursor().isEmpty() ? null : FrameId.parse(registration.cursor());
    var news = new ArrayList<Told>();
    for (var entry : page) {
      position = entry.position();
      for (var told : fold.take(entry)) {
        if (after == null || told.id().compareTo(after) > 0) {
          news.add(told);
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

  private void tell(List<Notice> notices) throws InterruptedException {
    for (var notice : notices) {
      if (notice.concerns(registration.version())) {
        deliver(notice);
      }
      if (registration.state() != Registration.State.OPEN) {
        return;
      }
      registration = registration.at(notice.id().toString());
    }
    if (!notices.isEmpty()) {
      parts.store().advance(registration);
    }
  }

  /// Posts until the notice is taken, or the webhook is given up.
  private void deliver(Notice notice) throws InterruptedException {
    var body =
        notice.body(
            registration.version(),
            () -> parts.form().snapshot(task, registration.version(), null, true));
    Instant since = null;
    for (var failures = 1; ; failures++) {
      var failure = attempt(notice, body);
      if (failure == null) {
        return;
      }
      if (registration.state() != Registration.State.OPEN) {
        return;
      }
      var now = parts.clock().instant();
      since = since == null ? now : since;
      if (parts.backoff().over(since, now)) {
        LOG.log(
            Level.WARNING,
            "the webhook {0} of task {1} is given up: {2}",
            registration.id(),
            registration.task(),
            failure);
        end(Registration.State.GIVEN_UP);
        return;
      }
      parts.store().advance(registration);
      Thread.sleep(parts.backoff().pause(failures));
    }
  }

  /// Posts once. Null if that was taken, else why not.
  private @Nullable String attempt(Notice notice, byte[] body) throws InterruptedException {
    try {
      var status = parts.post().post(registration.target().url(), headers(notice), body);
      if (status == GONE) {
        end(Registration.State.GIVEN_UP);
      }
      return status >= 200 && status < 300 ? null : "it answers " + status;
    } catch (IOException failed) {
      return String.valueOf(failed.getMessage());
    }
  }

  private Map<String, String> headers(Notice notice) {
    return headers(registration.target(), registration.version(), notice.id());
  }

  static Map<String, String> headers(PushTarget target, Version version, FrameId id) {
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
    registration = registration.ended(how);
    parts.store().advance(registration);
  }
}
