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

/// Sends the updates of tasks to their registered webhooks.
///
/// Each webhook has its own thread, which reads the task's log and waits for new entries. One lock
/// guards changes to the set of webhooks, both stored and running; senders never take this lock.
/// For many threads.
public final class Pushes implements PushDesk, AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Pushes.class.getName());
  private static final int OF_TASK_MAX = 16;
  private static final int TEXT_MAX = 4_096;
  private static final Duration ENDED_KEPT = Duration.ofDays(30);
  private static final Duration STOP_MAX = Duration.ofSeconds(5);

  /// The dependencies.
  ///
  /// @param file the database with the webhooks
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

  /// Resumes the webhooks that were active when the server stopped, and removes those that ended
  /// long ago.
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
      LOG.log(Level.WARNING, "not all webhooks could be resumed: {0}", failed.getMessage());
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
      LOG.log(Level.WARNING, "a webhook could not be read: {0}", damaged.getMessage());
    } finally {
      lock.unlock();
    }
  }

  /// Call with the lock held.
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

  /// Stops these senders and waits until they post no more. Call with the lock held.
  private void stop(List<Running> some) {
    some.forEach(one -> one.thread().interrupt());
    try {
      for (var one : some) {
        if (!one.thread().join(STOP_MAX)) {
          LOG.log(Level.WARNING, "thread \"{0}\" is slow to stop", one.thread().getName());
        }
      }
    } catch (InterruptedException told) {
      // The senders stop anyway, and can no longer store anything.
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
      throw invalid("id: must have 1 to 128 characters of A-Za-z0-9._:-");
    }
  }

  private static void limit(String name, @Nullable String text) {
    if (text != null
        && (text.length() > TEXT_MAX || text.chars().anyMatch(c -> c < ' ' || c > '~'))) {
      throw invalid(name + ": must have at most " + TEXT_MAX + " printable ASCII characters");
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

  /// @param all whether to send earlier updates, too
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

  /// The target as stored. A target without an id gets the task's id, so that registering it again
  /// replaces it.
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

  /// Call with the lock held. Updates that were already sent under this id are not sent again.
  private PushTarget keep(TaskView task, Registration fresh) {
    // Fails if the context is deleted. If it is deleted later, its registrations are removed later,
    // too.
    var _ = parts.log().head(fresh.context());
    // Look up the sender before the store: a sender stores its end before it is removed from the
    // map.
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

  /// True if nothing changes. A registration that was given up is started again.
  private static boolean same(Registration one, Registration other) {
    return one.state() != Registration.State.GIVEN_UP
        && one.version() == other.version()
        && one.target().equals(other.target());
  }

  /// The new registration with the progress of the earlier one.
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

  /// Removes all webhooks of a context and waits until they receive no more requests.
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
