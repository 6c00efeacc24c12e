package dev.parley.door.a2a.push;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.PushTarget;
import dev.parley.door.FrameCursor;
import dev.parley.door.a2a.Caller;
import dev.parley.door.a2a.PushDesk;
import dev.parley.door.a2a.TaskForm;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.tool.Poster;
import dev.parley.vault.Seal;
import dev.parley.view.TaskView;
import dev.parley.view.Views;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Pushes what tasks do to the webhooks that are registered for them.
///
/// Each has a thread of its own that waits for its task as a reader does. Whatever changes which there are, changes
/// what is stored and who sends under one lock; senders never take it. Safe for many threads.
public final class Pushes implements PushDesk, AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Pushes.class.getName());
  private static final int OF_TASK_MAX = 16;
  private static final int TEXT_MAX = 4_096;
  private static final Duration ENDED_KEPT = Duration.ofDays(30);
  private static final Duration STOP_MAX = Duration.ofSeconds(5);

  /// What pushing takes.
  ///
  /// @param file where webhooks are kept
  public record Parts(
      EventLog log,
      Views views,
      TaskForm form,
      Path file,
      Seal seal,
      Poster poster,
      InstantSource clock,
      Backoff backoff) {}

  private record Key(ContextId context, TaskId task, String id) {
    static Key of(Registration it) {
      return new Key(it.context(), it.task(), it.id());
    }
  }

  private record Running(Sender sender, Thread thread) {}

  private final Parts parts;
  private final TaskForm form;
  private final PushStore store;
  private final Sender.Parts sending;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, Running> senders = new ConcurrentHashMap<>();
  private boolean closed;

  public Pushes(Parts parts) {
    this.parts = parts;
    this.form = parts.form();
    this.store = PushStore.open(parts.file(), parts.seal(), parts.clock());
    this.sending =
        new Sender.Parts(
            parts.log(),
            parts.views(),
            form,
            store,
            parts.poster()::post,
            parts.clock(),
            parts.backoff());
  }

  /// Goes on where pushing stopped when the server did, and forgets those that ended long ago.
  public void start() {
    unlessUnavailable(() -> store.forgetEnded(parts.clock().instant().minus(ENDED_KEPT)));
    for (var registration : store.all()) {
      unlessUnavailable(() -> resume(registration));
    }
  }

  private static void unlessUnavailable(Runnable step) {
    try {
      step.run();
    } catch (Rejection.Unavailable failed) {
      LOG.log(Level.WARNING, "not all pushes could be taken up: {0}", failed.getMessage());
    }
  }

  private void resume(Registration read) {
    lock.lock();
    try {
      var now = store.find(read.context(), read.task(), read.id());
      if (now.isEmpty()) {
        return;
      }
      var registration = now.get();
      var task = parts.views().task(registration.context(), registration.task());
      if (task.isEmpty()) {
        store.remove(registration.context(), registration.task(), registration.id());
      } else if (registration.state() == Registration.State.OPEN
          && !senders.containsKey(Key.of(registration))) {
        start(task.get(), registration);
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      store.forget(read.context());
    } catch (Rejection.Invalid damaged) {
      LOG.log(Level.WARNING, "a webhook cannot be read: {0}", damaged.getMessage());
    } finally {
      lock.unlock();
    }
  }

  /// Under the lock.
  private void start(TaskView task, Registration registration) {
    if (closed) {
      return;
    }
    var key = Key.of(registration);
    var sender = new Sender(sending, task, registration);
    var thread =
        Thread.ofVirtual()
            .name("push " + registration.id())
            .unstarted(
                () -> {
                  try {
                    sender.run();
                  } finally {
                    senders.computeIfPresent(key, (_, now) -> now.sender() == sender ? null : now);
                  }
                });
    senders.put(key, new Running(sender, thread));
    thread.start();
  }

  /// Returns once these post no more. Under the lock.
  private void stop(List<Running> some) {
    some.forEach(one -> one.thread().interrupt());
    try {
      for (var one : some) {
        if (!one.thread().join(STOP_MAX)) {
          LOG.log(Level.WARNING, "{0} takes long to stop", one.thread().getName());
        }
      }
    } catch (InterruptedException told) {
      // They stop all the same, and can store nothing any more.
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean supported() {
    return true;
  }

  @Override
  public void check(PushTarget target) {
    try {
      parts.poster().check(target.url());
    } catch (Rejection.Invalid refused) {
      throw invalid("url: " + refused.getMessage());
    }
    limit("token", target.token());
    limit("authentication.scheme", target.scheme());
    limit("authentication.credentials", target.credentials());
    if (target.id() != null && !Id.valid(target.id())) {
      throw invalid("id: 1 to 128 of A-Za-z0-9._:- are needed");
    }
  }

  private static void limit(String name, @Nullable String text) {
    if (text != null
        && (text.length() > TEXT_MAX || text.chars().anyMatch(c -> c < ' ' || c > '~'))) {
      throw invalid(
          name + ": at most " + TEXT_MAX + " characters that a header can hold are needed");
    }
  }

  private static A2aException invalid(String message) {
    return new A2aException(A2aError.INVALID_PARAMS, message);
  }

  @Override
  public PushTarget keep(Caller caller, TaskView task, PushTarget target) {
    return keep(caller, task, target, false);
  }

  @Override
  public PushTarget keepFromStart(Caller caller, TaskView task, PushTarget target) {
    return keep(caller, task, target, true);
  }

  /// @param all whether it is told what has happened already
  private PushTarget keep(Caller caller, TaskView task, PushTarget target, boolean all) {
    check(target);
    var wanted = wanted(caller, task, target);
    var now = form.now(task, caller.version());
    var fresh =
        new Registration(
            task.contextId(),
            task.taskId(),
            wanted,
            caller.version(),
            all ? Registration.START : FrameCursor.of(now.position()).toString(),
            now.state().terminal() && !all ? Registration.State.DONE : Registration.State.OPEN,
            0);
    lock.lock();
    try {
      return keep(task, fresh);
    } finally {
      lock.unlock();
    }
  }

  /// The target as it is kept. One without an id has the task's, so that whoever registers it again registers the
  /// same.
  private static PushTarget wanted(Caller caller, TaskView task, PushTarget target) {
    return new PushTarget(
        target.id() == null ? task.taskId().value() : target.id(),
        task.taskId().value(),
        target.url(),
        target.token(),
        target.scheme(),
        target.credentials(),
        target.tenant() == null ? caller.tenant() : target.tenant());
  }

  /// Under the lock. What was told already under this id is not told again.
  private PushTarget keep(TaskView task, Registration fresh) {
    // A context that is deleted after this is forgotten after this, too.
    var _ = parts.log().head(fresh.context());
    // Looked for first: one that ends meanwhile has stored that before it is seen to be away.
    var running = senders.get(Key.of(fresh));
    var known = store.of(fresh.context(), fresh.task());
    var earlier = known.stream().filter(one -> one.id().equals(fresh.id())).findFirst();
    if (earlier.isEmpty() && known.size() >= OF_TASK_MAX) {
      throw invalid("a task has at most " + OF_TASK_MAX + " push notification configs");
    }
    if (earlier.isPresent() && same(earlier.get(), fresh)) {
      var ended = earlier.get().state() == Registration.State.DONE;
      if (ended || running != null) {
        return earlier.get().target();
      }
    }
    if (running != null) {
      stop(List.of(running));
    }
    var last = running == null ? earlier : Optional.of(running.sender().registration());
    var kept = store.put(last.map(one -> goingOn(one, fresh)).orElse(fresh));
    if (kept.state() == Registration.State.OPEN) {
      start(task, kept);
    }
    return kept.target();
  }

  /// True if there is nothing to change. One that was given up is wanted again.
  private static boolean same(Registration one, Registration other) {
    return one.state() != Registration.State.GIVEN_UP
        && one.version() == other.version()
        && one.target().equals(other.target());
  }

  /// What is new, from where the earlier one has come to.
  private static Registration goingOn(Registration earlier, Registration fresh) {
    var state =
        earlier.state() == Registration.State.DONE
            ? Registration.State.DONE
            : Registration.State.OPEN;
    return fresh.at(earlier.cursor()).ended(state);
  }

  @Override
  public PushTarget find(Caller caller, TaskView task, String id) {
    return store.of(task.contextId(), task.taskId()).stream()
        .filter(one -> id.isEmpty() || one.id().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new A2aException(
                    A2aError.TASK_NOT_FOUND,
                    "Task " + task.taskId() + " has no push notification config " + id))
        .target();
  }

  @Override
  public List<PushTarget> list(Caller caller, TaskView task) {
    return store.of(task.contextId(), task.taskId()).stream().map(Registration::target).toList();
  }

  @Override
  public void delete(Caller caller, TaskView task, String id) {
    lock.lock();
    try {
      store.remove(task.contextId(), task.taskId(), id);
      var running = senders.get(new Key(task.contextId(), task.taskId(), id));
      if (running != null) {
        stop(List.of(running));
      }
    } finally {
      lock.unlock();
    }
  }

  /// Forgets all webhooks of a context, and returns once nothing is posted to them any more.
  public void forget(ContextId context) {
    lock.lock();
    try {
      var running =
          senders.entrySet().stream()
              .filter(one -> one.getKey().context().equals(context))
              .map(Map.Entry::getValue)
              .toList();
      stop(running);
      store.forget(context);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      stop(List.copyOf(senders.values()));
    } finally {
      lock.unlock();
    }
    parts.poster().close();
    store.close();
  }
}
