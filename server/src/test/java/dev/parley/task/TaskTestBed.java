package dev.parley.task;

import dev.parley.control.TaskControls;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Kind;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Time;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;

/// A log with one context, and tasks on it, for tests.
public final class TaskTestBed implements AutoCloseable {

  public static final ContextId CONTEXT = new ContextId("c");
  public static final AgentTypeId AGENT = new AgentTypeId("worker");
  public static final TaskSources SOURCES =
      new TaskSources(
          new SystemTime(new SystemThreads()),
          new SystemThreads(),
          () -> UUID.randomUUID().toString());

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final EventLog log;
  private final Tasks tasks;
  private final TaskControls controls;

  private TaskTestBed(
      EventLog log,
      Map<AgentTypeId, Agent> agents,
      Path folder,
      TaskLimits taskLimits,
      FailPoint failPoint,
      TaskControls controls) {
    this.log = log;
    this.controls = controls;
    this.tasks =
        new Tasks(
            log,
            new LogHistory(log),
            new TaskSettings(
                new AgentDirectory(agents, AGENT),
                new Workspaces(List.of(folder)),
                taskLimits,
                failPoint,
                controls),
            log instanceof MemoryLog memory ? sources(memory.time()) : SOURCES);
  }

  /// Sources with this time.
  public static TaskSources sources(Time time) {
    return new TaskSources(time, SOURCES.threads(), SOURCES.ids());
  }

  public static MemoryLog newLog() {
    return newLog(SOURCES.time());
  }

  /// A log with this time, which the tasks on it use as well.
  public static MemoryLog newLog(Time time) {
    var log = new MemoryLog(time);
    log.create(CONTEXT, new ContextCreated("local", null, null));
    return log;
  }

  public static TaskTestBed with(Agent agent, Path folder) {
    return with(newLog(), agent, folder, TaskLimits.DEFAULT);
  }

  public static TaskTestBed with(EventLog log, Agent agent, Path folder, TaskLimits taskLimits) {
    return with(log, Map.of(AGENT, agent), folder, taskLimits);
  }

  /// Several agents, which must include the default agent [#AGENT].
  public static TaskTestBed with(
      EventLog log, Map<AgentTypeId, Agent> agents, Path folder, TaskLimits taskLimits) {
    return new TaskTestBed(
        log, agents, folder, taskLimits, FailPoint.NONE, TaskControls.inMemory());
  }

  /// The same, with controls.
  public static TaskTestBed with(
      EventLog log, Map<AgentTypeId, Agent> agents, Path folder, TaskControls controls) {
    return new TaskTestBed(log, agents, folder, TaskLimits.DEFAULT, FailPoint.NONE, controls);
  }

  /// The same, with a fail point.
  public static TaskTestBed with(
      EventLog log,
      Map<AgentTypeId, Agent> agents,
      Path folder,
      TaskLimits taskLimits,
      FailPoint failPoint) {
    return new TaskTestBed(log, agents, folder, taskLimits, failPoint, TaskControls.inMemory());
  }

  /// The default limits, except for the number of parallel and queued tasks and the grace period.
  public static TaskLimits limits(
      int maxConcurrentTasks, int maxQueuedPerContext, Duration stopGrace) {
    var d = TaskLimits.DEFAULT;
    return new TaskLimits(
        d.taskTimeout(),
        maxConcurrentTasks,
        maxQueuedPerContext,
        d.maxQueuedContexts(),
        d.maxContentLength(),
        stopGrace,
        d.inputTimeout(),
        d.whenInputLapses(),
        d.loop(),
        d.tree());
  }

  public Tasks tasks() {
    return tasks;
  }

  public TaskControls controls() {
    return controls;
  }

  public EventLog log() {
    return log;
  }

  public AcceptedMessage submit(String text) {
    return tasks.submit(submission(text, Submission.TaskOptions.NONE));
  }

  public AcceptedMessage submit(String text, WhenBusy whenBusy) {
    return tasks.submit(submission(text, options(whenBusy)));
  }

  public static Submission submission(String text, Submission.TaskOptions taskOptions) {
    return new Submission(CONTEXT, "local", text, null, taskOptions, AppendGuard.none());
  }

  public static Submission.TaskOptions options(WhenBusy whenBusy) {
    return new Submission.TaskOptions(null, null, null, null, null, null, whenBusy);
  }

  public static Submission.TaskOptions timeout(long millis) {
    return new Submission.TaskOptions(null, null, null, millis, null, null, null);
  }

  /// All entries of the context.
  public List<Entry> entries() {
    return log.read(CONTEXT, Position.START, Integer.MAX_VALUE);
  }

  public List<Event> events(TaskId task) {
    return entries().stream().filter(e -> task.equals(e.taskId())).map(Entry::event).toList();
  }

  public List<Kind> kinds(TaskId task) {
    return events(task).stream().map(Kind::of).toList();
  }

  public <E extends Event> List<E> events(TaskId task, Class<E> type) {
    return events(task).stream().filter(type::isInstance).map(type::cast).toList();
  }

  /// The assistant's final message for this task.
  public Message answer(TaskId task) {
    return events(task, Message.class).stream()
        .filter(message -> message.role() == Role.ASSISTANT)
        .findFirst()
        .orElseThrow();
  }

  /// Waits for an entry and returns it.
  public Entry await(Predicate<Entry> wanted) throws InterruptedException {
    var position = Position.START;
    while (true) {
      for (var entry : log.read(CONTEXT, position, 10_000)) {
        if (wanted.test(entry)) {
          return entry;
        }
        position = entry.position();
      }
      if (!log.await(CONTEXT, position, TIMEOUT)) {
        throw new AssertionError("what was awaited did not come; the log has " + entries());
      }
    }
  }

  public void awaitKind(TaskId task, Kind kind) throws InterruptedException {
    await(e -> task.equals(e.taskId()) && e.kind() == kind);
  }

  /// Waits until no task runs: a task has a thread for a moment after it wrote that it waits or has
  /// ended.
  public void awaitNoRun() {
    while (tasks().running() > 0) {
      Thread.onSpinWait();
    }
  }

  /// Waits until the task has ended and returns its final state.
  public TaskState awaitEnd(TaskId task) throws InterruptedException {
    var last = await(e -> task.equals(e.taskId()) && terminal(e.event()));
    return last.event() instanceof TaskStatus status ? status.status() : TaskState.COMPLETED;
  }

  public String reason(TaskId task) {
    return events(task, TaskStatus.class).getLast().metadata().path("reason").asString();
  }

  public static boolean terminal(Event event) {
    return event instanceof TaskComplete
        || (event instanceof TaskStatus status
            && (status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED));
  }

  @Override
  public void close() {
    tasks.close();
  }
}
