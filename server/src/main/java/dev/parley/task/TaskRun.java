package dev.parley.task;

import dev.parley.control.TaskControls;
import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
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
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolCallId;
import dev.parley.runtime.Time;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
/// The agent's threads may share it, but [#readNewEntries] is only for the agent's main thread. The lock
/// guards how the run is stopped.
public final class TaskRun {

  private static final AnswerValidator ANSWER_VALIDATOR = new AnswerValidator();
  private static final int PAGE = 1_000;

  /// The task of a run; `createdSeq` is the number of its first event.
  record TaskDetails(ContextId context, Origin origin, TaskCreated created, long createdSeq) {

    static TaskDetails of(ContextId context, OpenTask task) {
      return new TaskDetails(context, task.origin(), task.created(), task.createdSeq());
    }
  }

  /// What [#stop] did: nothing if the run was stopped before or has parked.
  enum StopResult {
    STOPPED,
    STOPPED_BEFORE,
    PARKED
  }

  /// What a run needs of its scheduler.
  interface RunScheduler {

    /// Starts what can run in this context.
    void advance(ContextId context);

    /// The task asked a question.
    void onQuestion(ContextId context);

    /// The task used a model.
    void onUsage(TaskRun taskRun);

    /// A suspect task made progress.
    void onProgress(TaskId task);

    /// Writes that the task waits, and waits on its thread for the first entry after `after` that
    /// `wanted` accepts: for agents that cannot be called again.
    Entry waitFor(TaskRun taskRun, TaskStatus waiting, Position after, Predicate<Entry> wanted)
        throws InterruptedException;
  }

  /// The dependencies of a run.
  record TaskRunDependencies(
      EventLog log,
      TaskSources sources,
      SubtaskSpawner spawner,
      FailPoint failPoint,
      TaskControls controls,
      RunScheduler scheduler) {}

  /// The folder and the deadline of a run.
  record TaskRunBounds(Path workingDirectory, Instant deadline) {}

  private final TaskRunDependencies dependencies;
  private final TaskDetails taskDetails;
  private final TaskRunBounds taskRunBounds;
  private TaskTotals totals;
  private final RunningCalls calls = new RunningCalls();
  private volatile Position readPosition;
  private volatile boolean suspect;
  private @Nullable Thread worker;
  private @Nullable TaskEnding stop;
  private boolean parked;
  private boolean signaled;
  private volatile boolean fenced;
  private volatile boolean beginsWithOutput;
  private volatile Runnable heldBackWriter = () -> {};

  TaskRun(
      TaskRunDependencies taskRunDependencies,
      TaskDetails taskDetails,
      TaskRunBounds taskRunBounds) {
    this.dependencies = taskRunDependencies;
    this.taskDetails = taskDetails;
    this.taskRunBounds = taskRunBounds;
    this.readPosition = Position.of(taskDetails.createdSeq());
    this.totals = new TaskTotals(taskDetails.origin().taskId());
  }

  /// The context of the task.
  public ContextId context() {
    return taskDetails.context();
  }

  /// The owner of the context.
  public String owner() {
    return dependencies.log().owner(context());
  }

  /// The ids of the task.
  public Origin origin() {
    return taskDetails.origin();
  }

  /// The event that created the task.
  public TaskCreated created() {
    return taskDetails.created();
  }

  /// The folder that the task may work in, without symbolic links.
  public Path workingDirectory() {
    return taskRunBounds.workingDirectory();
  }

  /// The deadline of the task.
  public Instant deadline() {
    return taskRunBounds.deadline();
  }

  /// The source of time and new ids.
  public TaskSources sources() {
    return dependencies.sources();
  }

  /// Creates subtasks for other agents.
  public SubtaskSpawner spawner() {
    return dependencies.spawner();
  }

  /// True if the agent must stop. Its thread is interrupted as well.
  public synchronized boolean cancelled() {
    return stop != null;
  }

  /// True if the agent must stop because the server is stopping: open calls and questions stay open
  /// for the next start.
  public synchronized boolean serverStopping() {
    return TaskEnding.SERVER_STOPPING.equals(stop);
  }

  /// The pauses and budgets that apply to the task.
  public TaskRunControls controls() {
    return new TaskRunControls(
        dependencies.controls(),
        origin().agentId(),
        () -> inspect(state -> ContextSchedule.account(state, origin())));
  }

  /// A point at which tests can end the process.
  public void reachFailPoint(String failPoint) {
    dependencies.failPoint().reach(failPoint);
  }

  /// The entries for this task since the last call, oldest first, without deltas and raw lines: its
  /// own events, answers, and messages that steer it. The first call returns all entries since the
  /// task was created.
  public List<Entry> readNewEntries() {
    var news = new ArrayList<Entry>();
    for (var page = dependencies.log().read(context(), readPosition, PAGE);
        !page.isEmpty();
        page = dependencies.log().read(context(), readPosition, PAGE)) {
      for (var entry : page) {
        totals.add(entry);
        if (concerns(entry)) {
          news.add(entry);
        }
      }
      readPosition = page.getLast().position();
    }
    return news;
  }

  /// All entries since the task was created that `wanted` accepts, oldest first.
  public List<Entry> findEntries(Predicate<Entry> wanted) {
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
  public ObjectNode subtaskTotals(TaskId task) {
    var sums = new TaskTotals(task);
    var last = new AtomicReference<>(Instant.MIN);
    read(
        entry -> {
          sums.add(entry);
          if (task.equals(entry.taskId())) {
            last.set(entry.timestamp());
          }
        });
    return sums.totals(last.get());
  }

  private void read(Consumer<Entry> reader) {
    var position = Position.of(taskDetails.createdSeq());
    for (var page = dependencies.log().read(context(), position, PAGE);
        !page.isEmpty();
        page = dependencies.log().read(context(), position, PAGE)) {
      page.forEach(reader);
      position = page.getLast().position();
    }
  }

  private boolean concerns(Entry entry) {
    if (taskId().equals(entry.taskId())) {
      return !(entry.event() instanceof ContentDelta || entry.event() instanceof InternalRaw);
    }
    return entry.event() instanceof Message message && message.facts().steers(taskId());
  }

  /// Prepares another call of the agent: [#readNewEntries] returns everything again.
  void restart() {
    readPosition = Position.of(taskDetails.createdSeq());
    totals = new TaskTotals(taskId());
  }

  /// The position up to which [#readNewEntries] has read.
  Position readPosition() {
    return readPosition;
  }

  /// Reads the state of the context; see [EventLog#inspect].
  public <T> T inspect(Function<ContextState, T> look) {
    return dependencies.log().inspect(context(), look);
  }

  /// Appends events of this task and returns when they are durable.
  ///
  /// @throws Rejection.Conflict if the task has ended; then the agent has nothing left to do
  public void emit(List<? extends Event> events) {
    emit(_ -> events);
  }

  /// Appends the events of this task that `decide` returns; see [dev.parley.log.Decision].
  public void emit(Function<ContextState, List<? extends Event>> decide) {
    var asks = new AtomicBoolean();
    var uses = new AtomicBoolean();
    dependencies
        .log()
        .append(
            context(),
            AppendGuard.none(),
            state -> {
              if (fenced) {
                throw new Rejection.Conflict("task-ended", "the task has ended: " + taskId());
              }
              var drafts = new ArrayList<EventDraft>();
              if (beginsWithOutput) {
                ContextSchedule.beginning(state, taskId()).ifPresent(drafts::add);
              }
              var events = decide.apply(state);
              asks.set(events.stream().anyMatch(TaskRun::asks));
              uses.set(events.stream().anyMatch(Usage.class::isInstance));
              events.forEach(event -> drafts.add(new EventDraft(origin(), event)));
              return drafts;
            });
    if (asks.get()) {
      dependencies.scheduler().onQuestion(context());
    }
    if (uses.get()) {
      dependencies.scheduler().onUsage(this);
    }
    if (suspect
        && inspect(state -> state.openTask(taskId()).map(OpenTask::recoveries).orElse(0)) == 0) {
      suspect = false;
      dependencies.scheduler().onProgress(taskId());
    }
  }

  /// The first append of this run also begins the task, until `beginsWithOutput` is false.
  void beginWithOutput(boolean beginsWithOutput) {
    this.beginsWithOutput = beginsWithOutput;
  }

  /// Sets how events that the agent holds back are written now. It returns when they are durable or
  /// rejected.
  public void setHeldBackWriter(Runnable heldBackWriter) {
    this.heldBackWriter = heldBackWriter;
  }

  /// Writes events that the agent holds back, so that an append that follows is after them.
  void writeHeldBack() {
    heldBackWriter.run();
  }

  /// False if the next append of this run also begins the task.
  public boolean begun() {
    return !beginsWithOutput || !isNew();
  }

  /// True if the task has not begun, and may begin.
  boolean isNew() {
    return inspect(
        state ->
            state
                .openTask(taskId())
                .filter(task -> !task.started() && !task.cancelRequested())
                .isPresent());
  }

  /// True if the task is open and its cancellation was requested.
  boolean cancelRequested() {
    return inspect(s -> s.openTask(taskId()).filter(OpenTask::cancelRequested).isPresent());
  }

  /// The task may be the cause of a server crash: until it makes progress, no other suspect runs.
  void markSuspect() {
    suspect = true;
  }

  /// Appends events of this task, unless there are entries for it that [#readNewEntries] has not returned.
  /// False if there are.
  public boolean emitUnlessNewEntries(List<? extends Event> events) {
    return emitUnlessNewEntries(_ -> events);
  }

  /// The same with the events that `decide` returns.
  public boolean emitUnlessNewEntries(Function<ContextState, List<? extends Event>> decide) {
    var fresh = new AtomicBoolean();
    emit(
        state -> {
          var task = state.openTask(taskId());
          fresh.set(task.isPresent() && task.get().wokenSeq() > readPosition.seq());
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
            throw new Rejection.Conflict("cancel-requested", "the task is being canceled");
          }
          return events;
        });
  }

  private static boolean asks(Event event) {
    return event instanceof InputRequired || event instanceof AuthRequired;
  }

  /// Asks a question and waits for the answer; empty if the question lapses.
  public Optional<JsonNode> ask(InputRequired question) throws InterruptedException {
    var position = dependencies.log().head(context());
    emit(List.of(question));
    // The agent may have nothing else to do, and then the task waits.
    signal();
    var closed = awaitEntry(position, entry -> closes(entry.event(), question.inputId()));
    return closed.event() instanceof InputReceived received
        ? Optional.ofNullable(received.value())
        : Optional.empty();
  }

  private static boolean closes(Event event, InputId input) {
    return switch (event) {
      case InputReceived received -> received.inputId().equals(input);
      case InputLapsed lapsed -> lapsed.inputId().equals(input);
      default -> false; // Other events do not close questions.
    };
  }

  /// Waits for the first entry after `after` that `wanted` accepts.
  Entry awaitEntry(Position after, Predicate<Entry> wanted) throws InterruptedException {
    var position = after;
    while (true) {
      for (var page = dependencies.log().read(context(), position, PAGE);
          !page.isEmpty();
          page = dependencies.log().read(context(), position, PAGE)) {
        for (var entry : page) {
          if (wanted.test(entry)) {
            return entry;
          }
        }
        position = page.getLast().position();
      }
      dependencies.log().await(context(), position, Time.WAIT_MAX);
    }
  }

  /// Waits on this thread, for agents that cannot be called again. Meanwhile another task may use
  /// its slot.
  public Entry waitFor(TaskStatus waiting, Position after, Predicate<Entry> wanted)
      throws InterruptedException {
    return dependencies.scheduler().waitFor(this, waiting, after, wanted);
  }

  /// Writes that the task waits, and waits on this thread for entries that [#readNewEntries] has not
  /// returned.
  public void waitForNewEntries(TaskStatus waiting) throws InterruptedException {
    waitFor(
        waiting,
        readPosition,
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
          .ifPresent(open -> ANSWER_VALIDATOR.check(open.required(), value));
      var time = new AnswerDuration(dependencies.log(), dependencies.sources());
      var metadata = time.withDuration(null, context(), input);
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
    var taskTextBlocks =
        TaskTextBlocks.read(
            dependencies.log(), context(), taskId(), Position.of(taskDetails.createdSeq()));
    emit(
        open.get().keySet().stream()
            .map(
                block ->
                    new ContentComplete(
                        taskTextBlocks.text(block),
                        block,
                        FinishReason.INTERRUPTED,
                        true,
                        null,
                        null))
            .toList());
  }

  /// The tool calls that run.
  public RunningCalls calls() {
    return calls;
  }

  void cancelCall(ToolCallId call) {
    calls.cancel(call);
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

  /// Starts what can run in the task's context.
  void advance() {
    dependencies.scheduler().advance(context());
  }

  TaskDetails subject() {
    return taskDetails;
  }

  TaskId taskId() {
    return origin().taskId();
  }

  TaskTotals totals() {
    return totals;
  }

  /// The current thread starts to work. False if the run was stopped before.
  synchronized boolean beginWork() {
    worker = Thread.currentThread();
    return stop == null;
  }

  /// The current thread has finished its work: from now on it is not interrupted.
  synchronized void endWork() {
    worker = null;
    // The interrupt that ended the work must not interrupt the append of its end.
    Thread.interrupted();
  }

  /// Interrupts the agent's thread, whose work is in vain, unless the run was stopped.
  public synchronized void interruptWork() {
    if (worker != null && stop == null) {
      worker.interrupt();
    }
  }

  /// Stops the run; only the first reason counts.
  synchronized StopResult stop(TaskEnding taskEnding) {
    if (parked) {
      return StopResult.PARKED;
    }
    if (stop != null) {
      return StopResult.STOPPED_BEFORE;
    }
    stop = taskEnding;
    if (worker != null) {
      worker.interrupt();
    }
    return StopResult.STOPPED;
  }

  /// The task waits without a thread: from now on the run cannot be stopped. Returns why it was
  /// stopped before, if it was; then the task must end instead.
  synchronized Optional<TaskEnding> park() {
    parked = true;
    return stopped();
  }

  /// Rejects all further events of the agent, so that the server can write the task's end.
  void fence() {
    fenced = true;
  }

  boolean fenced() {
    return fenced;
  }

  /// Why the run was stopped, if it was.
  synchronized Optional<TaskEnding> stopped() {
    return Optional.ofNullable(stop);
  }
}
