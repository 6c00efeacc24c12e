package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.SendRequest;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireForm;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WireTask;
import dev.parley.door.DoorParts;
import dev.parley.door.EntryTail;
import dev.parley.door.EventStream;
import dev.parley.door.FrameCursor;
import dev.parley.door.OnHold;
import dev.parley.door.Streams;
import dev.parley.door.a2a.TaskFold.Told;
import dev.parley.door.a2a.TaskStream.Writing;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.view.TaskView;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The operations of the protocol, independent of version and binding.
final class Operations {

  private static final int READ = 256;

  /// The number of rounds that a wait is split into.
  private static final int LOOKS = 10;

  private static final Duration ANSWER_MAX = Duration.ofMinutes(10);
  private static final Duration CANCEL_MAX = Duration.ofSeconds(10);

  private final DoorParts parts;
  private final TaskForm form;
  private final Lookup lookup;
  private final Sending sending;
  private final Rewinding rewinding;
  private final Lister lister;
  private final PushDesk pushes;

  Operations(DoorParts parts, TaskForm form, PushDesk pushes, A2aSettings settings) {
    this.parts = parts;
    this.form = form;
    this.pushes = pushes;
    this.lookup = new Lookup(parts.views(), parts.access());
    this.sending = new Sending(parts, lookup, form, pushes, settings);
    this.lister = new Lister(parts, form);
    this.rewinding = new Rewinding(parts, lookup, sending, form);
  }

  PushDesk pushes() {
    return pushes;
  }

  TaskView find(Caller caller, String id) {
    return lookup.find(caller, id);
  }

  /// Sends a message and, if the request is blocking, waits until the task ends or asks. After the
  /// time limit, returns the task in its current state.
  ///
  /// @throws Rejection.Busy if too many requests are waiting; the message is not accepted then
  WireItem send(Caller caller, SendRequest request, Holding holding) {
    if (!request.blocking()) {
      return answered(caller, request, null);
    }
    try (var hold = holding.hold(parts.tails().streams())) {
      return answered(caller, request, hold);
    }
  }

  /// Lets the HTTP request wait.
  interface Holding {
    OnHold hold(Streams streams);
  }

  private WireItem answered(Caller caller, SendRequest request, @Nullable OnHold hold) {
    if (Rewinding.isRewind(request)) {
      var rewound = rewinding.rewind(caller, request);
      if (rewound.task() == null) {
        return rewound.told();
      }
      return answer(caller, request, rewound.task(), hold);
    }
    return answer(caller, request, sending.send(caller, request), hold);
  }

  private WireItem answer(
      Caller caller, SendRequest request, TaskView task, @Nullable OnHold hold) {
    var fold = form.now(task, caller);
    if (hold != null) {
      await(hold, task, fold, f -> f.state().terminal() || f.state().interrupted(), ANSWER_MAX);
    }
    return fold.answer()
        .map(WireItem.class::cast)
        .orElseGet(() -> fold.task(request.historyLength(), true));
  }

  /// Sends a message and streams the task.
  EventStream stream(Caller caller, SendRequest request, Writing writing) {
    if (Rewinding.isRewind(request)) {
      var rewound = rewinding.rewind(caller, request);
      if (rewound.task() == null) {
        var frame = writing.frame(rewound.id(), rewound.item());
        return sink -> sink.write(ByteBuffer.wrap(frame));
      }
      var first = List.of(new Told(rewound.id(), rewound.told()));
      return tail(caller, rewound.task(), writing, first);
    }
    var before = continued(caller, request);
    var task = sending.send(caller, request);
    if (before.isPresent() && before.get().marks().root().equals(task.taskId())) {
      // The message continues a task: the stream begins with the task as it was before the message.
      var fold = before.get();
      var first = new Told(FrameCursor.of(fold.position()), opening(caller, fold));
      return new EntryTail(
          parts.tails(),
          task.contextId(),
          fold.position(),
          new TaskStream(fold, writing, List.of(first), null));
    }
    return tail(caller, task, writing, List.of());
  }

  /// In 0.3 this task has no history: its clients take a task with a history for the whole session.
  private static WireTask opening(Caller caller, TaskFold fold) {
    var task = fold.task(null, true);
    return caller.version() == Version.V1_0
        ? task
        : new WireTask(
            task.id(),
            task.contextId(),
            task.status(),
            task.artifacts(),
            List.of(),
            task.metadata());
  }

  /// The task that the message continues, as it was before the message.
  private Optional<TaskFold> continued(Caller caller, SendRequest request) {
    var id = request.message().taskId();
    return id == null
        ? Optional.empty()
        : Optional.of(form.now(lookup.find(caller, id), caller))
            .filter(fold -> !fold.state().terminal());
  }

  /// Streams a task from its beginning.
  private EventStream tail(Caller caller, TaskView task, Writing writing, List<Told> first) {
    return new EntryTail(
        parts.tails(),
        task.contextId(),
        TaskForm.before(task),
        new TaskStream(form.begin(task, caller), writing, first, null));
  }

  /// Streams a task from the frame after `after`, or from its current state.
  EventStream subscribe(Caller caller, String id, @Nullable FrameCursor after, Writing writing) {
    var task = lookup.find(caller, id);
    var fold = form.now(task, caller);
    var over = fold.state().terminal();
    if (after != null) {
      if (after.position().after(parts.log().head(task.contextId()))) {
        throw new A2aException(
            A2aError.INVALID_PARAMS, "Last-Event-ID: the id is after the task's last event");
      }
      if (!over || FrameCursor.of(fold.position()).after(after)) {
        return new EntryTail(
            parts.tails(),
            task.contextId(),
            TaskForm.before(task),
            new TaskStream(form.begin(task, caller), writing, List.of(), after, fold.openSince()));
      }
    }
    if (over && caller.version() == Version.V1_0) {
      throw new A2aException(
          A2aError.UNSUPPORTED_OPERATION,
          "This operation is not supported: task "
              + id
              + " has ended; there is nothing to subscribe to, get it instead");
    }
    var snapshot = new Told(FrameCursor.of(fold.position()), fold.task(null, true));
    return new EntryTail(
        parts.tails(),
        task.contextId(),
        fold.position(),
        new TaskStream(fold, writing, List.of(snapshot), null));
  }

  /// The current state of a task.
  WireTask get(Caller caller, String id, @Nullable Integer historyLength) {
    return form.snapshot(lookup.find(caller, id), caller.version(), historyLength, true);
  }

  /// Lists tasks, the most recently changed first.
  ObjectNode list(Caller caller, Listing wanted, WireForm written) {
    return lister.list(caller, wanted, written);
  }

  /// Cancels a task and waits until it has ended.
  WireTask cancel(Caller caller, String id, Holding holding) {
    var task = lookup.find(caller, id);
    var fold = form.now(task, caller);
    if (fold.state().terminal()) {
      throw new A2aException(
          A2aError.TASK_NOT_CANCELABLE,
          "Task cannot be canceled: " + id + " has ended (" + fold.state().kebab() + ")");
    }
    parts.tasks().cancel(task.contextId(), task.taskId(), caller.principal(), null);
    try (var hold = holding.hold(parts.tails().streams())) {
      await(hold, task, fold, f -> f.state().terminal(), CANCEL_MAX);
    }
    return fold.task(null, true);
  }

  /// Folds new entries until the condition holds, the time is up, the client disconnects, or the
  /// server stops.
  private void await(
      OnHold hold, TaskView task, TaskFold fold, Predicate<TaskFold> wanted, Duration max) {
    var until = parts.clock().instant().plus(max);
    var patience = max.dividedBy(LOOKS);
    try {
      while (!wanted.test(fold) && !hold.ended()) {
        var position = position(task, fold);
        for (var entry : parts.log().read(task.contextId(), position, READ)) {
          fold.take(entry);
          if (wanted.test(fold)) {
            return;
          }
        }
        if (parts.clock().instant().isAfter(until)) {
          return;
        }
        hold.await(() -> parts.log().await(task.contextId(), position(task, fold), patience));
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      throw new A2aException(A2aError.TASK_NOT_FOUND, "Task not found: " + task.taskId());
    }
  }

  private static Position position(TaskView task, TaskFold fold) {
    return fold.position().equals(Position.START) ? TaskForm.before(task) : fold.position();
  }
}
