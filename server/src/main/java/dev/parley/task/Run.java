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

/// A task at work: what its agent is given to know, to say, and to be stopped by.
///
/// Safe for use by the threads of the agent, but [#news] is for the thread that works. Its lock guards
/// what is to be stopped and how.
public final class Run {

  private static final AnswerCheck CHECK = new AnswerCheck();
  private static final int PAGE = 1_000;

  /// What a run is about; `createdSeq` is where its task began.
  record Subject(ContextId context, Origin origin, TaskCreated created, long createdSeq) {}

  /// What a run works with.
  record Parts(
      EventLog log,
      Sources sources,
      Spawner spawner,
      FailPoint failPoint,
      Consumer<ContextId> asked,
      Consumer<TaskId> gotFurther,
      Rest rest) {}

  /// Where a run may work, and until when.
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

  /// The context that the task belongs to.
  public ContextId context() {
    return subject.context();
  }

  /// Who the context belongs to.
  public String owner() {
    return parts.log().owner(context());
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
    return bounds.deadline();
  }

  /// Where the agent's time and ids come from.
  public Sources sources() {
    return parts.sources();
  }

  /// Hands work to other agents.
  public Spawner spawner() {
    return parts.spawner();
  }

  /// True if the agent is to stop; its thread is interrupted too.
  public synchronized boolean cancelled() {
    return stop != null;
  }

  /// True if the agent is to stop because the server does: what is open stays open, for the next start.
  public synchronized boolean handedBack() {
    return Ending.HANDED_BACK.equals(stop);
  }

  /// A place at which tests end the process.
  public void reach(String failPoint) {
    parts.failPoint().reach(failPoint);
  }

  /// What the log says of this task since the last call, oldest first, without deltas and raw lines: its own events,
  /// answers to it, and messages that were said to it. The first call tells everything since the task was
  /// created.
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

  /// What the log has since the task was created and `wanted` accepts, oldest first.
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

  /// What a task below this one, with all below it, has taken so far: `duration`, `iterations`, `tokensUsed`, `usage`,
  /// `modelUsage`, `costUsd`.
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

  /// The agent is about to be called, and will be told everything again.
  void restart() {
    seen = Position.of(subject.createdSeq());
    tally = new Tally(taskId());
  }

  /// Up to where [#news] has told.
  Position seen() {
    return seen;
  }

  /// What decisions see of the context; see [EventLog#inspect].
  public <T> T inspect(Function<ContextState, T> look) {
    return parts.log().inspect(context(), look);
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

  /// The task may be what ended the server: it runs alone among its like until it gets further.
  void suspect() {
    suspect = true;
  }

  /// Appends events of this task, unless something came for it that [#news] has not told. False if so.
  public boolean emitUnlessNews(List<? extends Event> events) {
    return emitUnlessNews(_ -> events);
  }

  /// The same with the events that `decide` chooses.
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

  /// Appends events of this task, unless somebody has asked that it stop: then nothing new is begun.
  ///
  /// @throws Rejection.Conflict if so
  public void emitUnlessCanceled(List<? extends Event> events) {
    emit(
        state -> {
          if (state.openTask(taskId()).filter(OpenTask::cancelRequested).isPresent()) {
            throw new Rejection.Conflict(Finisher.CANCEL_REQUESTED, "the task is to be canceled");
          }
          return events;
        });
  }

  private static boolean asks(Event event) {
    return event instanceof InputRequired || event instanceof AuthRequired;
  }

  /// Asks, and waits for the answer; empty if there will be none.
  public Optional<JsonNode> ask(InputRequired question) throws InterruptedException {
    var position = parts.log().head(context());
    emit(List.of(question));
    // The agent may have nothing to do now but wait.
    signal();
    return Answers.await(parts.log(), context(), position, question.inputId());
  }

  /// Waits on this thread, for agents that cannot be called again; see [Rest].
  public Entry rest(TaskStatus waiting, Position after, Predicate<Entry> wanted)
      throws InterruptedException {
    return parts.rest().until(this, waiting, after, wanted);
  }

  /// Says that the task waits, and waits on this thread for something that [#news] has not told.
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
                    // Whoever cancels interrupts this thread.
                    && !(entry.event() instanceof CancelRequested));
  }

  /// Answers what this task asked, in the name of an agent above it. False if the answer does not fit, or
  /// is no longer wanted.
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
              throw new Rejection.Invalid("not-wanted", "this is not asked of agents");
            }
            return List.of(
                new InputReceived(input, InputEvent.Provider.AGENT, null, agent, metadata, value));
          });
      return true;
    } catch (Rejection.Invalid misfit) {
      return false;
    }
  }

  /// Ends the blocks of text that were begun and cut off, as parts of what was to be said.
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
    signal();
  }

  /// There may be news.
  public synchronized void signal() {
    signaled = true;
    notifyAll();
  }

  /// Waits until somebody has signaled since the last wait.
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
