package dev.parley.api.a2a.push;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.api.a2a.A2aCaller;
import dev.parley.api.a2a.A2aTaskReader;
import dev.parley.api.a2a.PushConfigRegistry;
import dev.parley.auth.VaultCipher;
import dev.parley.http.OpenStreams;
import dev.parley.log.DatabaseCheck;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.stream.FrameCursor;
import dev.parley.tool.WebhookClient;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
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
public final class PushNotifier implements PushConfigRegistry, AutoCloseable {

  private static final System.Logger LOG = System.getLogger(PushNotifier.class.getName());
  private static final int CONFIGS_PER_TASK_MAX = 16;
  private static final int TEXT_MAX = 4_096;
  private static final Duration ENDED_KEPT = Duration.ofDays(30);
  private static final Duration STOP_MAX = Duration.ofSeconds(5);

  /// The dependencies.
  ///
  /// @param database where the webhooks are stored
  public record PushNotifierDependencies(
      EventLog log,
      Views views,
      A2aTaskReader form,
      PushDatabase database,
      VaultCipher seal,
      WebhookClient poster,
      Time time,
      Threads threads) {}

  private record RegistrationKey(ContextId context, TaskId task, String id) {
    static RegistrationKey of(PushRegistration it) {
      return new RegistrationKey(it.context(), it.task(), it.id());
    }
  }

  private record RunningSender(WebhookSender sender, Thread thread) {}

  private final PushNotifierDependencies dependencies;
  private final A2aTaskReader taskReader;
  private final PushConfigStore store;
  private final WebhookSender.WebhookSenderDependencies senderDependencies;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<RegistrationKey, RunningSender> senders = new ConcurrentHashMap<>();
  private boolean closed;

  public PushNotifier(PushNotifierDependencies dependencies) {
    this.dependencies = dependencies;
    this.taskReader = dependencies.form();
    this.store =
        PushConfigStore.open(
            dependencies.database(),
            dependencies.seal(),
            dependencies.time(),
            dependencies.threads());
    this.senderDependencies =
        new WebhookSender.WebhookSenderDependencies(
            dependencies.log(),
            taskReader,
            store,
            dependencies.poster(),
            new OpenStreams(Integer.MAX_VALUE, dependencies.time()),
            dependencies.time());
  }

  /// Checks the database of webhooks in `file` without changing it.
  ///
  /// @return false if `patience` ended before the whole file was checked
  /// @throws SQLException if a server cannot open the file, or if it is damaged
  public static boolean check(Path file, Duration patience) throws SQLException {
    return DatabaseCheck.check(file, patience, PushConfigStore::readAsAtStart);
  }

  /// Resumes the webhooks that were active when the server stopped, and removes those that ended
  /// long ago.
  public void start() {
    unlessUnavailable(
        () -> store.removeEndedBefore(dependencies.time().instant().minus(ENDED_KEPT)));
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

  private void resume(PushRegistration read) {
    lock.lock();
    try {
      var now = store.find(read.context(), read.task(), read.id());
      if (now.isEmpty()) {
        return;
      }
      var registration = now.get();
      var task = dependencies.views().task(registration.context(), registration.task());
      if (task.isEmpty()) {
        store.remove(registration.context(), registration.task(), registration.id());
      } else if (registration.state() == PushRegistration.PushState.OPEN
          && !senders.containsKey(RegistrationKey.of(registration))) {
        start(task.get(), registration);
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      store.removeContext(read.context());
    } catch (Rejection.Invalid damaged) {
      LOG.log(Level.WARNING, "a webhook could not be read: {0}", damaged.getMessage());
    } finally {
      lock.unlock();
    }
  }

  /// Call with the lock held.
  private void start(TaskView task, PushRegistration registration) {
    if (closed) {
      return;
    }
    var registrationKey = RegistrationKey.of(registration);
    var webhookSender = new WebhookSender(senderDependencies, task, registration);
    var thread =
        dependencies
            .threads()
            .unstarted(
                "push " + registration.id(),
                () -> {
                  try {
                    webhookSender.run();
                  } finally {
                    senders.computeIfPresent(
                        registrationKey, (_, now) -> now.sender() == webhookSender ? null : now);
                  }
                });
    senders.put(registrationKey, new RunningSender(webhookSender, thread));
    thread.start();
  }

  /// Stops these senders and waits until they post no more. Call with the lock held.
  private void stop(List<RunningSender> some) {
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
  public void check(PushNotificationConfig target) {
    try {
      dependencies.poster().check(target.url());
    } catch (Rejection.Invalid refused) {
      throw A2aException.invalid("url: " + refused.getMessage());
    }
    checkHeaderText("token", target.token());
    checkHeaderText("authentication.scheme", target.scheme());
    checkHeaderText("authentication.credentials", target.credentials());
    if (target.id() != null && !Id.valid(target.id())) {
      throw A2aException.invalid("id: must have 1 to 128 characters of A-Za-z0-9._:-");
    }
  }

  private static void checkHeaderText(String name, @Nullable String text) {
    if (text != null
        && (text.length() > TEXT_MAX || text.chars().anyMatch(c -> c < ' ' || c > '~'))) {
      throw A2aException.invalid(
          name + ": must have at most " + TEXT_MAX + " printable ASCII characters");
    }
  }

  @Override
  public PushNotificationConfig register(
      A2aCaller a2aCaller, TaskView task, PushNotificationConfig target) {
    return register(a2aCaller, task, target, false);
  }

  @Override
  public PushNotificationConfig registerFromStart(
      A2aCaller a2aCaller, TaskView task, PushNotificationConfig target) {
    return register(a2aCaller, task, target, true);
  }

  /// @param all whether to send earlier updates, too
  private PushNotificationConfig register(
      A2aCaller a2aCaller, TaskView task, PushNotificationConfig target, boolean all) {
    check(target);
    var wanted = wanted(a2aCaller, task, target);
    var now = taskReader.currentFold(task, a2aCaller.version());
    var fresh =
        new PushRegistration(
            task.contextId(),
            task.taskId(),
            wanted,
            a2aCaller.version(),
            all ? PushRegistration.START : FrameCursor.of(now.position()).toString(),
            now.state().terminal() && !all
                ? PushRegistration.PushState.DONE
                : PushRegistration.PushState.OPEN,
            0);
    lock.lock();
    try {
      return register(task, fresh);
    } finally {
      lock.unlock();
    }
  }

  /// The target as stored. A target without an id gets the task's id, so that registering it again
  /// replaces it.
  private static PushNotificationConfig wanted(
      A2aCaller a2aCaller, TaskView task, PushNotificationConfig target) {
    return new PushNotificationConfig(
        target.id() == null ? task.taskId().value() : target.id(),
        task.taskId().value(),
        target.url(),
        target.token(),
        target.scheme(),
        target.credentials(),
        target.tenant() == null ? a2aCaller.tenant() : target.tenant());
  }

  /// Call with the lock held. Updates that were already sent under this id are not sent again.
  private PushNotificationConfig register(TaskView task, PushRegistration fresh) {
    // Fails if the context is deleted. If it is deleted later, its registrations are removed later,
    // too.
    var _ = dependencies.log().head(fresh.context());
    // Look up the sender before the store: a sender stores its end before it is removed from the
    // map.
    var running = senders.get(RegistrationKey.of(fresh));
    var known = store.ofTask(fresh.context(), fresh.task());
    var earlier = known.stream().filter(one -> one.id().equals(fresh.id())).findFirst();
    if (earlier.isEmpty() && known.size() >= CONFIGS_PER_TASK_MAX) {
      throw A2aException.invalid(
          "a task has at most " + CONFIGS_PER_TASK_MAX + " push notification configs");
    }
    if (earlier.isPresent() && same(earlier.get(), fresh)) {
      var ended = earlier.get().state() == PushRegistration.PushState.DONE;
      if (ended || running != null) {
        return earlier.get().target();
      }
    }
    if (running != null) {
      stop(List.of(running));
    }
    var last = running == null ? earlier : Optional.of(running.sender().registration());
    var kept = store.put(last.map(one -> resumed(one, fresh)).orElse(fresh));
    if (kept.state() == PushRegistration.PushState.OPEN) {
      start(task, kept);
    }
    return kept.target();
  }

  /// True if nothing changes. A registration that was given up is started again.
  private static boolean same(PushRegistration one, PushRegistration other) {
    return one.state() != PushRegistration.PushState.GIVEN_UP
        && one.version() == other.version()
        && one.target().equals(other.target());
  }

  /// The new registration with the progress of the earlier one.
  private static PushRegistration resumed(PushRegistration earlier, PushRegistration fresh) {
    var pushState =
        earlier.state() == PushRegistration.PushState.DONE
            ? PushRegistration.PushState.DONE
            : PushRegistration.PushState.OPEN;
    return fresh.withCursor(earlier.cursor()).withState(pushState);
  }

  @Override
  public PushNotificationConfig find(A2aCaller a2aCaller, TaskView task, String id) {
    return store.ofTask(task.contextId(), task.taskId()).stream()
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
  public List<PushNotificationConfig> list(A2aCaller a2aCaller, TaskView task) {
    return store.ofTask(task.contextId(), task.taskId()).stream()
        .map(PushRegistration::target)
        .toList();
  }

  @Override
  public void delete(A2aCaller a2aCaller, TaskView task, String id) {
    lock.lock();
    try {
      store.remove(task.contextId(), task.taskId(), id);
      var running = senders.get(new RegistrationKey(task.contextId(), task.taskId(), id));
      if (running != null) {
        stop(List.of(running));
      }
    } finally {
      lock.unlock();
    }
  }

  /// Removes all webhooks of a context and waits until they receive no more requests.
  public void removeContext(ContextId context) {
    lock.lock();
    try {
      var running =
          senders.entrySet().stream()
              .filter(one -> one.getKey().context().equals(context))
              .map(Map.Entry::getValue)
              .toList();
      stop(running);
      store.removeContext(context);
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
    dependencies.poster().close();
    store.close();
  }
}
