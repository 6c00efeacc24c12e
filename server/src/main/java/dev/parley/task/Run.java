package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A task at work: what its agent is given to know, to say, and to be stopped by.
///
/// Safe for use by the threads of the agent. Its lock guards what is to be stopped and how.
public final class Run {

  /// What a run is about.
  record Subject(ContextId context, Origin origin, TaskCreated created) {}

  /// Where a run may work, and how long.
  record Bounds(Path workingDirectory, Duration timeout) {}

  private final EventLog log;
  private final Subject subject;
  private final Sources sources;
  private final Instant started;
  private final Bounds bounds;
  private final Steering steering = new Steering();
  private final Tally tally = new Tally();
  private final Map<ToolCallId, Runnable> calls = new HashMap<>();
  private final Set<ToolCallId> canceledCalls = new HashSet<>();
  private @Nullable Thread worker;
  private @Nullable Ending stop;
  private volatile boolean shut;

  Run(EventLog log, Subject subject, Sources sources, Bounds bounds) {
    this.log = log;
    this.subject = subject;
    this.sources = sources;
    this.started = sources.clock().instant();
    this.bounds = bounds;
  }

  /// The context that the task belongs to.
  public ContextId context() {
    return subject.context();
  }

  /// Who the context belongs to.
  public String owner() {
    return log.owner(context());
  }

  /// Which task this is.
  public Origin origin() {
    return subject.origin();
  }

  /// What the task was created with.
  public TaskCreated created() {
    return subject.created();
  }

  /// The folder that the task may work in, without symbolic links.
  public Path workingDirectory() {
    return bounds.workingDirectory();
  }

  /// When the task will be stopped.
  public Instant deadline() {
    return started.plus(bounds.timeout());
  }

  /// Where the agent's time and ids come from.
  public Sources sources() {
    return sources;
  }

  /// What people say to the task while it works.
  public Steering steering() {
    return steering;
  }

  /// True if the agent is to stop; its thread is interrupted too.
  public synchronized boolean cancelled() {
    return stop != null;
  }

  /// Appends events of this task and returns when they are durable.
  ///
  /// @throws Rejection.Conflict if the task has ended meanwhile: the agent has nothing left to do
  public void emit(List<? extends Event> events) {
    emit(_ -> events);
  }

  /// Appends the events of this task that `decide` chooses; see [dev.parley.log.Decision].
  public void emit(Function<ContextState, List<? extends Event>> decide) {
    if (shut) {
      throw new Rejection.Conflict("task-ended", "the task has ended: " + taskId());
    }
    // Of several decisions the last is the one that was appended.
    var chosen = new AtomicReference<List<? extends Event>>(List.of());
    log.append(
        context(),
        Guard.none(),
        state -> {
          chosen.set(decide.apply(state));
          return chosen.get().stream().map(event -> new Draft(origin(), event)).toList();
        });
    tally.add(chosen.get());
  }

  /// Says what to do when somebody cancels this tool call, or has done so, until [#leaveCall].
  public void enterCall(ToolCallId call, Runnable onCancel) {
    synchronized (this) {
      if (!canceledCalls.contains(call)) {
        calls.put(call, onCancel);
        return;
      }
    }
    onCancel.run();
  }

  /// The tool call has ended.
  public synchronized void leaveCall(ToolCallId call) {
    calls.remove(call);
  }

  void cancelCall(ToolCallId call) {
    Runnable onCancel;
    synchronized (this) {
      canceledCalls.add(call);
      onCancel = calls.remove(call);
    }
    if (onCancel != null) {
      onCancel.run();
    }
  }

  TaskId taskId() {
    return origin().taskId();
  }

  Duration timeout() {
    return bounds.timeout();
  }

  Instant started() {
    return started;
  }

  Tally tally() {
    return tally;
  }

  /// The current thread begins to work. False if the run was stopped before.
  synchronized boolean enter() {
    worker = Thread.currentThread();
    return stop == null;
  }

  /// The current thread has done its work: from now on nobody interrupts it.
  synchronized void leave() {
    worker = null;
    // What interrupted the work must not cut short the writing of its end.
    Thread.interrupted();
  }

  /// Stops the run; the first reason counts. False if it was stopped before.
  synchronized boolean stop(Ending ending) {
    if (stop != null) {
      return false;
    }
    stop = ending;
    if (worker != null) {
      worker.interrupt();
    }
    return true;
  }

  /// Refuses what the agent says from now on, so that somebody else can write the task's end.
  void shut() {
    shut = true;
  }

  /// Why the run was stopped, if it was.
  synchronized Optional<Ending> stopped() {
    return Optional.ofNullable(stop);
  }
}
