package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Handle to a running task: read its history, append events, observe cancellation.
///
/// The agent's threads may share it, but [#news] is only for the agent's main thread. The lock
/// guards how the run is stopped, and the running calls.
public final class Run {

  private static final AnswerCheck CHECK = new AnswerCheck();
  private static final int PAGE = 1_000;

  /// The task of a run; `createdSeq` is the number of its first event.
  record Subject(ContextId context, Origin origin, TaskCreated created, long createdSeq) {}

  /// The dependencies of a run.
  record Parts(
      EventLog log,
      Sources sources,
      Spawner spawner,
      FailPoint failPoint,
      Consumer<ContextId> asked,
      Consumer<TaskId> gotFurther,
      Rest rest) {}

  /// The folder and the deadline of a run.
  record Bounds(Path workingDirectory, Instant deadline) {}

  private final Parts parts;
  private final Subject subject;
  private final Bounds bounds;
  private Tally tally;
  private final Map<ToolCallId, Runnable> calls = new HashMap<>();
  private final Set<ToolCallId> canceledCalls = new HashSet<>();
  private volatile Position seen;
  private volatile boolean suspect;
  private @Nullable Thread worker;
  private @Nullable Ending stop;
  private boolean signaled;
  private volatile boolean shut;

  Run(Parts parts, Subject subject, Bounds bounds) {
    this.parts = parts;
    this.subject = subject;
    this.bounds = bounds;
    this.seen = Position.of(subject.createdSeq());
    this.tally = new Tally(subject.origin().taskId());
  }

  /// The context of the task.
  public ContextId context() {
    return subject.context();
  }

  /// The owner of the context.
  public String owner() {
    return parts.log().owner(context());
  }

  /// The ids of the task.
  public Origin origin() {
    return subject.origin();
  }

  /// The event that created the task.
  public TaskCreated created() {
    return subject.created();
  }

  /// The folder that the task may work in, without symbolic links.
  public Path workingDirectory() {
    return bounds.workingDirectory();
  }

  /// The deadline of the task.
  public Instant deadline() {
    return bounds.deadline();
  }

  /// The source of time and new ids.
  public Sources sources() {
    return parts.sources();
  }

  /// Creates subtasks for other agents.
  public Spawner spawner() {
    return parts.spawner();
  }

  /// True if the agent must stop. Its thread is interrupted as well.
  public synchronized boolean cancelled() {
    return stop != null;
  }

  /// True if the agent must stop because the server is stopping: open calls and questions stay open
  /// for the next start.
  public synchronized boolean handedBack() {
    return Ending.HANDED_BACK.equals(stop);
  }

  /// A point at which tests can end the process.
  public void reach(String failPoint) {
    parts.failPoint().reach(failPoint);
  }

  /// The entries for this task since the last call, oldest first, without deltas and raw lines: its
  /// own events, answers, and messages that steer it. The first call returns all entries since the
  /// task was created.
  public List<Entry> news() {
    var news = new ArrayList<Entry>();
    for (var page = parts.log().read(context(), seen, PAGE);
        !page.isEmpty();
        page = parts.log().read(context(), seen, PAGE)) {
      for (var entry : page) {
        tally.add(entry);
        if (concerns(entry)) {
          news.add(entry);
        }
      }
      seen = page.getLast().position();
    }
    return news;
  }

  /// All entries since the task was created that `wanted` accepts, oldest first.
  public List<Entry> look(Predicate<Entry> wanted) {
    var found = new ArrayList<Entry>();
    read(
        entry -> {
          if (wanted.test(entry)) {
            found.add(entry);
          }
        });
    return found;
  }

  /// The totals of a subtask and its descendants so far: `duration`, `iterations`, `tokensUsed`,
  /// `usage`, `modelUsage`, `costUsd`.
  public ObjectNode figures(TaskId task) {
    var sums = new Tally(task);
    var last = new AtomicReference<>(Instant.MIN);
    read(
        entry -> {
          sums.add(entry);
          if (task.equals(entry.taskId())) {
            last.set(entry.timestamp());
          }
        });
    return sums.ofTask(last.get());
  }

  private void read(Consumer<Entry> reader) {
    var position = Position.of(subject.createdSeq());
    for (var page = parts.log().read(context(), position, PAGE);
        !page.isEmpty();
        page = parts.log().read(context(), position, PAGE)) {
      page.forEach(reader);
      position = page.getLast().position();
    }
  }

  private boolean concerns(Entry entry) {
    if (taskId().equals(entry.taskId())) {
      return !(entry.event() instanceof ContentDelta || entry.event() instanceof InternalRaw);
    }
    return entry.event() instanceof Message message && Admission.isSaidTo(message, taskId());
  }

  /// Prepares another call of the agent: [#news] returns everything again.
  void restart() {
    seen = Position.of(subject.createdSeq());
    tally = new Tally(taskId());
  }

  /// The position up to which [#news] has read.
  Position seen() {
    return seen;
  }

  /// Reads the state of the context; see [EventLog#inspect].
  public <T> T inspect(Function<ContextState, T> look) {
    return parts.log().inspect(context(), look);
  }

  /// Appends events of this task and returns when they are durable.
  ///
  /// @throws Rejection.Conflict if the task has ended; then the agent has nothing left to do
  public void emit(List<? extends Event> events) {
    emit(_ -> events);
  }

  /// Appends the events of this task that `decide` returns; see [dev.parley.log.Decision].
  public void emit(Function<ContextState, List<? extends Event>> decide) {
    if (shut) {
      throw new Rejection.Conflict("task-ended", "the task has ended: " + taskId());
    }
    var asks = new AtomicBoolean();
    parts
        .log()
        .append(
            context(),
            Guard.none(),
            state -> {
              var events = decide.apply(state);
              asks.set(events.stream().anyMatch(Run::asks));
              return events.stream().map(event -> new Draft(origin(), (Event) event)).toList();
            });
    if (asks.get()) {
      parts.asked().accept(context());
    }
    if (suspect
        && inspect(state -> state.openTask(taskId()).map(OpenTask::recoveries).orElse(0)) == 0) {
      suspect = false;
      parts.gotFurther().accept(taskId());
    }
  }

  /// The task may be the cause of a server crash: until it makes progress, no other suspect runs.
  void suspect() {
    suspect = true;
  }

  /// Appends events of this task, unless there are entries for it that [#news] has not returned.
  /// False if there are.
  public boolean emitUnlessNews(List<? extends Event> events) {
    return emitUnlessNews(_ -> events);
  }

  /// The same with the events that `decide` returns.
  public boolean emitUnlessNews(Function<ContextState, List<? extends Event>> decide) {
    var fresh = new AtomicBoolean();
    emit(
        state -> {
          var task = state.openTask(taskId());
          fresh.set(task.isPresent() && task.get().wokenSeq() > seen.seq());
          return fresh.get() ? List.of() : decide.apply(state);
        });
    return !fresh.get();
  }

  /// Appends events of this task, unless its cancellation was requested.
  ///
  /// @throws Rejection.Conflict if it was
  public void emitUnlessCanceled(List<? extends Event> events) {
    emit(
        state -> {
          if (state.openTask(taskId()).filter(OpenTask::cancelRequested).isPresent()) {
            throw new Rejection.Conflict(Finisher.CANCEL_REQUESTED, "the task is being canceled");
          }
          return events;
        });
  }

  private static boolean asks(Event event) {
    return event instanceof InputRequired || event instanceof AuthRequired;
  }

  /// Asks a question and waits for the answer; empty if the question lapses.
  public Optional<JsonNode> ask(InputRequired question) throws InterruptedException {
    var position = parts.log().head(context());
    emit(List.of(question));
    // The agent may have nothing else to do, and then the task waits.
    signal();
    return Answers.await(parts.log(), context(), position, question.inputId());
  }

  /// Waits on this thread, for agents that cannot be called again; see [Rest].
  public Entry rest(TaskStatus waiting, Position after, Predicate<Entry> wanted)
      throws InterruptedException {
    return parts.rest().until(this, waiting, after, wanted);
  }

  /// Writes that the task waits, and waits on this thread for entries that [#news] has not
  /// returned.
  public void restUntilNews(TaskStatus waiting) throws InterruptedException {
    parts
        .rest()
        .until(
            this,
            waiting,
            seen,
            entry ->
                concerns(entry)
                    && !(entry.event() instanceof TaskStatus)
                    // A cancellation interrupts this thread.
                    && !(entry.event() instanceof CancelRequested));
  }

  /// Answers a question of this task on behalf of a parent agent. False if the answer is not valid,
  /// or the question is not open.
  public boolean answer(InputId input, AgentTypeId agent, JsonNode value) {
    try {
      inspect(state -> state.openInput(input))
          .ifPresent(open -> CHECK.check(open.required(), value));
      var time = new AnswerTime(parts.log(), parts.sources());
      var metadata = time.with(null, context(), input);
      emit(
          state -> {
            var open = state.openInput(input);
            if (open.isEmpty() || Boolean.TRUE.equals(open.get().required().requireUser())) {
              throw new Rejection.Invalid("not-wanted", "agents may not answer this question");
            }
            return List.of(
                new InputReceived(input, InputEvent.Provider.AGENT, null, agent, metadata, value));
          });
      return true;
    } catch (Rejection.Invalid misfit) {
      return false;
    }
  }

  /// Ends the blocks of text that were interrupted, and marks them as partial.
  public void closeBlocks() {
    var open = inspect(state -> state.openTask(taskId()).map(t -> Map.copyOf(t.openBlocks())));
    if (open.isEmpty() || open.get().isEmpty()) {
      return;
    }
    var spoken = Spoken.read(parts.log(), context(), taskId(), Position.of(subject.createdSeq()));
    emit(
        open.get().keySet().stream()
            .map(
                block ->
                    new ContentComplete(
                        spoken.text(block), block, FinishReason.INTERRUPTED, true, null, null))
            .toList());
  }

  /// Registers what to do when this tool call is canceled, until [#leaveCall]. Does it immediately
  /// if the call was canceled before.
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
    signal();
  }

  /// There may be new entries.
  public synchronized void signal() {
    signaled = true;
    notifyAll();
  }

  /// Waits until [#signal] was called since the last wait.
  public synchronized void awaitSignal() throws InterruptedException {
    while (!signaled) {
      wait();
    }
    signaled = false;
  }

  Subject subject() {
    return subject;
  }

  TaskId taskId() {
    return origin().taskId();
  }

  Tally tally() {
    return tally;
  }

  /// The current thread starts to work. False if the run was stopped before.
  synchronized boolean enter() {
    worker = Thread.currentThread();
    return stop == null;
  }

  /// The current thread has finished its work: from now on it is not interrupted.
  synchronized void leave() {
    worker = null;
    // The interrupt that ended the work must not interrupt the append of its end.
    Thread.interrupted();
  }

  /// Stops the run; only the first reason counts. False if it was stopped before.
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

  /// Rejects all further events of the agent, so that the server can write the task's end.
  void shut() {
    shut = true;
  }

  /// Why the run was stopped, if it was.
  synchronized Optional<Ending> stopped() {
    return Optional.ofNullable(stop);
  }
}
