package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoder;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.SendMessageRequest;
import dev.parley.api.ApiDependencies;
import dev.parley.api.a2a.A2aTaskFold.A2aStreamItem;
import dev.parley.api.a2a.A2aTaskStream.A2aFrameWriter;
import dev.parley.api.a2a.TaskLister.ListTasksRequest;
import dev.parley.http.BlockingCall;
import dev.parley.http.FrameStream;
import dev.parley.http.OpenStreams;
import dev.parley.identity.Action;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskView;
import dev.parley.stream.FrameCursor;
import dev.parley.stream.ProjectedStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The operations of the protocol, independent of version and binding.
final class A2aOperations {

  private static final int READ = 256;

  /// The number of rounds that a wait is split into.
  private static final int WAIT_ROUNDS = 10;

  private static final Duration ANSWER_MAX = Duration.ofMinutes(10);
  private static final Duration CANCEL_MAX = Duration.ofSeconds(10);

  private final ApiDependencies parts;
  private final A2aTaskReader taskReader;
  private final A2aTaskLookup lookup;
  private final A2aMessageSender sender;
  private final A2aRewind rewind;
  private final TaskLister taskLister;
  private final PushConfigRegistry pushConfigs;

  A2aOperations(
      ApiDependencies parts, A2aTaskReader form, PushConfigRegistry pushes, A2aSettings settings) {
    this.parts = parts;
    this.taskReader = form;
    this.pushConfigs = pushes;
    this.lookup = new A2aTaskLookup(parts.views(), parts.access());
    this.sender = new A2aMessageSender(parts, lookup, form, pushes, settings);
    this.taskLister = new TaskLister(parts, form);
    this.rewind = new A2aRewind(parts, lookup, sender, form);
  }

  PushConfigRegistry pushConfigs() {
    return pushConfigs;
  }

  TaskView find(A2aCaller caller, Action action, String id) {
    return lookup.find(caller, action, id);
  }

  /// Sends a message and, if the request is blocking, waits until the task ends or asks. After the
  /// time limit, returns the task in its current state.
  ///
  /// @throws Rejection.Busy if too many requests are waiting; the message is not accepted then
  A2aResponseItem send(A2aCaller caller, SendMessageRequest request, BlockingCallFactory blocking) {
    if (!request.blocking()) {
      return sendAndAwait(caller, request, null);
    }
    try (var hold = blocking.open(parts.streamDependencies().streams())) {
      return sendAndAwait(caller, request, hold);
    }
  }

  /// Lets the HTTP request wait.
  interface BlockingCallFactory {
    BlockingCall open(OpenStreams openStreams);
  }

  private A2aResponseItem sendAndAwait(
      A2aCaller caller, SendMessageRequest request, @Nullable BlockingCall hold) {
    if (A2aRewind.isRewind(request)) {
      var result = rewind.rewind(caller, request);
      if (result.newTask() == null) {
        return result.sessionTask();
      }
      return awaitAnswer(caller, request, result.newTask(), hold);
    }
    return awaitAnswer(caller, request, sender.send(caller, request), hold);
  }

  private A2aResponseItem awaitAnswer(
      A2aCaller caller, SendMessageRequest request, TaskView task, @Nullable BlockingCall hold) {
    var fold = taskReader.currentFold(task, caller);
    if (hold != null) {
      await(hold, task, fold, f -> f.state().terminal() || f.state().interrupted(), ANSWER_MAX);
    }
    return fold.answer()
        .map(A2aResponseItem.class::cast)
        .orElseGet(() -> fold.task(request.historyLength(), true));
  }

  /// Sends a message and streams the task.
  FrameStream stream(A2aCaller caller, SendMessageRequest request, A2aFrameWriter writer) {
    if (A2aRewind.isRewind(request)) {
      var result = rewind.rewind(caller, request);
      if (result.newTask() == null) {
        var frame = writer.frame(result.id(), result.item());
        return sink -> sink.write(ByteBuffer.wrap(frame));
      }
      var first = List.of(new A2aStreamItem(result.id(), result.sessionTask()));
      return streamFromStart(caller, result.newTask(), writer, first);
    }
    var before = findContinued(caller, request);
    var task = sender.send(caller, request);
    if (before.isPresent() && before.get().kagentMetadata().root().equals(task.taskId())) {
      // The message continues a task: the stream begins with the task as it was before the message.
      var fold = before.get();
      var first = new A2aStreamItem(FrameCursor.of(fold.position()), firstTask(caller, fold));
      return new ProjectedStream(
          parts.streamDependencies(),
          task.contextId(),
          fold.position(),
          new A2aTaskStream(fold, writer, List.of(first), null));
    }
    return streamFromStart(caller, task, writer, List.of());
  }

  /// In 0.3 this task has no history: its clients take a task with a history for the whole session.
  private static A2aTask firstTask(A2aCaller caller, A2aTaskFold fold) {
    var task = fold.task(null, true);
    return caller.version() == A2aVersion.V1_0 ? task : task.with(task.artifacts(), List.of());
  }

  /// The task that the message continues, as it was before the message.
  private Optional<A2aTaskFold> findContinued(A2aCaller caller, SendMessageRequest request) {
    var id = request.message().taskId();
    return id == null
        ? Optional.empty()
        : Optional.of(taskReader.currentFold(lookup.find(caller, Action.WRITE, id), caller))
            .filter(fold -> !fold.state().terminal());
  }

  /// Streams a task from its beginning.
  private FrameStream streamFromStart(
      A2aCaller caller, TaskView task, A2aFrameWriter writer, List<A2aStreamItem> first) {
    return new ProjectedStream(
        parts.streamDependencies(),
        task.contextId(),
        A2aTaskReader.startPosition(task),
        new A2aTaskStream(taskReader.newFold(task, caller), writer, first, null));
  }

  /// Streams a task from the frame after `after`, or from its current state.
  FrameStream subscribe(
      A2aCaller caller, String id, @Nullable FrameCursor after, A2aFrameWriter writer) {
    var task = lookup.find(caller, Action.READ, id);
    var fold = taskReader.currentFold(task, caller);
    var over = fold.state().terminal();
    if (after != null) {
      if (after.position().after(parts.log().head(task.contextId()))) {
        throw A2aException.invalid("Last-Event-ID: the id is after the task's last event");
      }
      if (!over || FrameCursor.of(fold.position()).after(after)) {
        return new ProjectedStream(
            parts.streamDependencies(),
            task.contextId(),
            A2aTaskReader.startPosition(task),
            new A2aTaskStream(
                taskReader.newFold(task, caller), writer, List.of(), after, fold.openSince()));
      }
    }
    if (over && caller.version() == A2aVersion.V1_0) {
      throw new A2aException(
          A2aError.UNSUPPORTED_OPERATION,
          "This operation is not supported: task "
              + id
              + " has ended; there is nothing to subscribe to, get it instead");
    }
    var snapshot = new A2aStreamItem(FrameCursor.of(fold.position()), fold.task(null, true));
    return new ProjectedStream(
        parts.streamDependencies(),
        task.contextId(),
        fold.position(),
        new A2aTaskStream(fold, writer, List.of(snapshot), null));
  }

  /// The current state of a task.
  A2aTask get(A2aCaller caller, String id, @Nullable Integer historyLength) {
    return taskReader.snapshot(
        lookup.find(caller, Action.READ, id), caller.version(), historyLength, true);
  }

  /// Lists tasks, the most recently changed first.
  ObjectNode list(A2aCaller caller, ListTasksRequest wanted, A2aEncoder written) {
    return taskLister.list(caller, wanted, written);
  }

  /// Cancels a task and waits until it has ended.
  A2aTask cancel(A2aCaller caller, String id, BlockingCallFactory blocking) {
    var task = lookup.find(caller, Action.WRITE, id);
    var fold = taskReader.currentFold(task, caller);
    if (fold.state().terminal()) {
      throw new A2aException(
          A2aError.TASK_NOT_CANCELABLE,
          "Task cannot be canceled: " + id + " has ended (" + fold.state().kebab() + ")");
    }
    parts.tasks().cancel(task.contextId(), task.taskId(), caller.principal(), null);
    try (var hold = blocking.open(parts.streamDependencies().streams())) {
      await(hold, task, fold, f -> f.state().terminal(), CANCEL_MAX);
    }
    return fold.task(null, true);
  }

  /// Folds new entries until the condition holds, the time is up, the client disconnects, or the
  /// server stops.
  private void await(
      BlockingCall hold,
      TaskView task,
      A2aTaskFold fold,
      Predicate<A2aTaskFold> wanted,
      Duration max) {
    var until = parts.time().instant().plus(max);
    var patience = max.dividedBy(WAIT_ROUNDS);
    try {
      while (!wanted.test(fold) && !hold.ended()) {
        var position = position(task, fold);
        for (var entry : parts.log().read(task.contextId(), position, READ)) {
          fold.apply(entry);
          if (wanted.test(fold)) {
            return;
          }
        }
        if (parts.time().instant().isAfter(until)) {
          return;
        }
        hold.await(() -> parts.log().await(task.contextId(), position(task, fold), patience));
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      throw new A2aException(A2aError.TASK_NOT_FOUND, "Task not found: " + task.taskId());
    }
  }

  private static Position position(TaskView task, A2aTaskFold fold) {
    return fold.position().equals(Position.START)
        ? A2aTaskReader.startPosition(task)
        : fold.position();
  }
}
