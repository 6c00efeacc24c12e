package dev.parley.door.a2a.push;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.PushTarget;
import dev.parley.door.a2a.Caller;
import dev.parley.door.a2a.FrameId;
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
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Pushes what tasks do to the webhooks that are registered for them.
///
/// Each has a thread of its own that waits for its task as a reader does. Safe for many threads.
public final class Pushes implements PushDesk, AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Pushes.class.getName());
  private static final int OF_TASK_MAX = 16;
  private static final int TEXT_MAX = 4_096;

  /// What pushing takes.
  ///
  /// @param file where webhooks are kept
  /// @param ids makes ids for those that come without
  public record Parts(
      EventLog log,
      Views views,
      TaskForm form,
      Path file,
      Seal seal,
      Poster poster,
      InstantSource clock,
      Supplier<String> ids,
      Backoff backoff) {}

  private record Key(ContextId context, TaskId task, String id) {}

  private final Parts parts;
  private final TaskForm form;
  private final PushStore store;
  private final Sender.Parts sending;
  private final Map<Key, Thread> senders = new ConcurrentHashMap<>();

  public Pushes(Parts parts) {
    this.parts = parts;
    this.form = parts.form();
    this.store = PushStore.open(parts.file(), parts.seal());
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

  /// Goes on where pushing stopped when the server did.
  public void start() {
    for (var registration : store.all()) {
      try {
        var task = parts.views().task(registration.context(), registration.task());
        if (task.isEmpty()) {
          store.remove(registration.context(), registration.task(), registration.id());
        } else if (registration.state() == Registration.State.OPEN) {
          start(task.get(), registration);
        }
      } catch (Rejection.NotFound | Rejection.Gone deleted) {
        store.forget(registration.context());
      } catch (Rejection.Invalid damaged) {
        LOG.log(Level.WARNING, "a webhook cannot be read: {0}", damaged.getMessage());
      }
    }
  }

  private void start(TaskView task, Registration registration) {
    var key = key(task, registration.id());
    var sender = new Sender(sending, task, registration);
    var thread =
        Thread.ofVirtual()
            .name("push " + registration.id())
            .unstarted(
                () -> {
                  try {
                    sender.run();
                  } finally {
                    senders.remove(key, Thread.currentThread());
                  }
                });
    var before = senders.put(key, thread);
    if (before != null) {
      before.interrupt();
    }
    thread.start();
  }

  private static Key key(TaskView task, String id) {
    return new Key(task.contextId(), task.taskId(), id);
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
    var id = target.id() == null ? parts.ids().get() : target.id();
    var known = store.of(task.contextId(), task.taskId());
    if (known.size() >= OF_TASK_MAX && known.stream().noneMatch(one -> one.id().equals(id))) {
      throw invalid("a task has at most " + OF_TASK_MAX + " push notification configs");
    }
    var kept =
        new PushTarget(
            id,
            task.taskId().value(),
            target.url(),
            target.token(),
            target.scheme(),
            target.credentials(),
            target.tenant() == null ? caller.tenant() : target.tenant());
    var now = form.now(task, caller.version());
    var registration =
        new Registration(
            task.contextId(),
            task.taskId(),
            kept,
            caller.version(),
            all ? Registration.START : FrameId.of(now.position()).toString(),
            now.state().terminal() && !all ? Registration.State.DONE : Registration.State.OPEN);
    store.put(registration);
    if (registration.state() == Registration.State.OPEN) {
      start(task, registration);
    }
    return kept;
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
    store.remove(task.contextId(), task.taskId(), id);
    var sender = senders.remove(key(task, id));
    if (sender != null) {
      sender.interrupt();
    }
  }

  @Override
  public void close() {
    for (var sender : senders.values()) {
      sender.interrupt();
    }
    for (var sender : senders.values()) {
      try {
        sender.join();
      } catch (InterruptedException told) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    parts.poster().close();
    store.close();
  }
}
