package dev.parley.task;

import dev.parley.log.Appended;
import dev.parley.log.ContextState;
import dev.parley.log.Decision;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.WireName;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/// Validates submissions and appends each message with its task in one append.
final class Admission {

  /// In a message's metadata: the message steers a running task.
  static final String STEER = "steer";

  /// In the metadata of such a message: the tasks that receive it.
  static final String HEARD_BY = "heardBy";

  private static final int PAGE = 100;

  private final EventLog log;
  private final History history;
  private final Tasks.Setup setup;
  private final Sources sources;

  Admission(EventLog log, History history, Tasks.Setup setup, Sources sources) {
    this.log = log;
    this.history = history;
    this.setup = setup;
    this.sources = sources;
  }

  /// A valid submission, and the events that it appends to an idle context.
  record Order(Submission submission, Message message, Origin origin, TaskCreated created) {}

  /// A message that is in the log; `replayed` if an earlier request with the same key appended it.
  record Entered(Accepted accepted, Message message, boolean replayed) {}

  /// Rejects a submission that is invalid in a new context. Writes nothing.
  void checkNew(Submission submission) {
    var named = submission.options().workingDirectory();
    var _ = check(submission, setup.workspaces().resolve(named, List::of));
  }

  /// Rejects a submission that is invalid in its context. Writes nothing.
  Order check(Submission submission) {
    return check(submission, directory(submission));
  }

  /// The folder that the submission names, or else the folder in which the context last worked.
  private Path directory(Submission submission) {
    var context = submission.context();
    var workspaces = setup.workspaces();
    var named = submission.options().workingDirectory();
    if (named != null) {
      return workspaces.resolve(named, () -> history.folders(context));
    }
    return lastFolder(context)
        .filter(workspaces::keeps)
        .map(folder -> workspaces.resolve(folder, () -> List.of(folder)))
        .orElseGet(() -> workspaces.resolve(null, List::of));
  }

  private Optional<String> lastFolder(ContextId context) {
    return log.inspect(context, ContextState::workingDirectory)
        // A state that an earlier version stored does not have the folder.
        .or(
            () ->
                log.head(context).seq() > 1
                    ? history.folders(context).stream().findFirst()
                    : Optional.empty());
  }

  private Order check(Submission submission, Path directory) {
    var options = submission.options();
    if (submission.content().isBlank()) {
      throw new Rejection.Invalid("a message needs text");
    }
    if (submission.content().length() > setup.limits().maxContentLength()) {
      throw new Rejection.TooLarge(
          "content-too-long",
          "a message has at most " + setup.limits().maxContentLength() + " characters");
    }
    var agent = setup.agents().choose(options.agentId());
    var timeout = options.timeoutMs();
    if (timeout != null && (timeout < 1 || timeout > Limits.TIMEOUT_MAX.toMillis())) {
      throw new Rejection.Invalid(
          "the timeout of a task is between 1 and "
              + Limits.TIMEOUT_MAX.toMillis()
              + " ms, not "
              + timeout);
    }
    var type = options.taskType();
    if (type != null) {
      WireName.parse(TaskType.class, "taskType", type);
    }
    var metadata = options.metadata() == null ? Json.object() : options.metadata().deepCopy();
    if (options.strategy() != null) {
      metadata.put(
          "strategy", WireName.parse(Strategy.class, "strategy", options.strategy()).wire());
    }
    if (!options.clientTools().isEmpty()) {
      options.clientTools().forEach(metadata.putArray("clientTools")::add);
    }
    if (options.whenBusy() == WhenBusy.INTERRUPT) {
      metadata.put(Lineup.WHEN_BUSY, WhenBusy.INTERRUPT.wire());
    }
    setup.agents().describe(agent, metadata);
    var message = message(submission, sources.taskId(), List.of());
    var created =
        new TaskCreated(
            Initiator.USER,
            metadata,
            message.messageId(),
            submission.content(),
            type,
            options.priority(),
            timeout,
            directory.toString());
    return new Order(submission, message, Origin.root(taskOf(message), agent), created);
  }

  /// Appends the message and its task. If the context is busy, the task waits in its queue.
  ///
  /// @throws Rejection.Conflict `busy` if the submission does not allow waiting
  Entered enter(Order order) {
    return append(order, state -> events(order, state));
  }

  /// Appends the message for the running task. Works like [#enter] if that task has ended or is
  /// being canceled.
  Entered steer(Order order, TaskId running) {
    return append(
        order,
        state -> {
          var hearing = hearing(state, running);
          return hearing.isEmpty()
              ? events(order, state)
              : said(state, hearing, message(order.submission(), running, hearing));
        });
  }

  /// The message as the running task receives it.
  ///
  /// @throws Rejection.Conflict `busy` if no running task can receive it
  Draft spoken(ContextState state, Order order) {
    var running = Lineup.running(state).map(task -> task.origin().taskId()).orElse(null);
    var hearing = running == null ? List.<OpenTask>of() : hearing(state, running);
    if (running == null || hearing.isEmpty()) {
      throw busy();
    }
    return Draft.of(message(order.submission(), running, hearing));
  }

  private List<OpenTask> hearing(ContextState state, TaskId running) {
    return state.openTask(running).stream()
        .flatMap(task -> hearing(state, task))
        .filter(task -> task.started() && !task.cancelRequested())
        .toList();
  }

  /// The tasks that receive a message to this one: the task itself, or its direct subtasks.
  private Stream<OpenTask> hearing(ContextState state, OpenTask task) {
    var agent = setup.agents().get(task.origin().agentId());
    return (agent.passesOn() ? Lineup.children(state, task.origin().taskId()) : Stream.of(task))
        .filter(one -> setup.agents().get(one.origin().agentId()).resumes());
  }

  /// The message, and the lapse of all open questions of its recipients: the message replaces the
  /// answers.
  private static List<Draft> said(ContextState state, List<OpenTask> hearing, Message message) {
    var drafts = new ArrayList<Draft>();
    for (var task : hearing) {
      for (var input : state.openInputs()) {
        if (input.task().equals(task.origin().taskId())) {
          var lapsed =
              new InputLapsed(
                  input.required().inputId(), "replaced by a message", message.principal());
          drafts.add(new Draft(task.origin(), lapsed));
        }
      }
      for (var auth : state.openAuths()) {
        if (auth.task().equals(task.origin().taskId())) {
          var lapsed =
              new AuthLapsed(
                  auth.required().authId(), "replaced by a message", message.principal());
          drafts.add(new Draft(task.origin(), lapsed));
        }
      }
    }
    drafts.add(Draft.of(message));
    return drafts;
  }

  /// Appends the events of `first`, such as a rewind and messages without a task, and then the
  /// submission.
  ///
  /// @throws Rejection.Conflict `busy` if a task of the context has not ended
  Entered replace(Order order, Function<ContextState, List<Draft>> first) {
    return append(
        order,
        state -> {
          if (Lineup.roots(state).findAny().isPresent()) {
            throw busy();
          }
          var drafts = new ArrayList<>(first.apply(state));
          drafts.addAll(events(order, state));
          return drafts;
        });
  }

  private Message message(Submission submission, TaskId task, List<OpenTask> hearing) {
    var label = submission.label();
    var metadata = label.metadata() == null ? Json.object() : label.metadata().deepCopy();
    metadata.put("taskId", task.value());
    var options = submission.options();
    if (!hearing.isEmpty()) {
      metadata.put(STEER, true);
      var heard = metadata.putArray(HEARD_BY);
      hearing.forEach(one -> heard.add(one.origin().taskId().value()));
      if (options.metadata() != null && options.metadata().has(Submission.RUN_ID)) {
        metadata.set(Submission.RUN_ID, options.metadata().get(Submission.RUN_ID));
      }
    }
    return new Message(
        label.messageId() == null ? sources.messageId() : label.messageId(),
        Role.USER,
        submission.content(),
        submission.parts(),
        metadata,
        submission.principal());
  }

  private List<Draft> events(Order order, ContextState state) {
    var drafts = new ArrayList<Draft>();
    drafts.add(Draft.of(order.message()));
    drafts.add(new Draft(order.origin(), order.created()));
    var waiting = Lineup.waiting(state);
    var ahead = Lineup.running(state).or(() -> waiting.stream().findFirst()).orElse(null);
    if (ahead == null) {
      return drafts;
    }
    var whenBusy = order.submission().options().whenBusy();
    if (whenBusy == WhenBusy.REJECT) {
      throw busy();
    }
    if (waiting.size() >= setup.limits().maxQueuedPerContext()) {
      throw new Rejection.Busy("queue-full", "too many tasks of this context are waiting");
    }
    var blocked = Json.object().put("blockedBy", ahead.origin().taskId().value());
    drafts.add(new Draft(order.origin(), new TaskStatus(TaskState.SUBMITTED, null, blocked)));
    if (whenBusy == WhenBusy.INTERRUPT && ahead.started()) {
      var request = new CancelRequested(order.submission().principal(), "interrupted by a message");
      drafts.addAll(Lineup.cancel(state, ahead.origin().taskId(), request));
    }
    return drafts;
  }

  private static Rejection busy() {
    return new Rejection.Conflict("busy", "a task of this context is running");
  }

  private Entered append(Order order, Decision decision) {
    var submission = order.submission();
    var appended = log.append(submission.context(), submission.guard(), decision);
    // Read back rather than computed, so that a replayed append returns the original answer.
    var entry = userMessage(submission.context(), appended);
    var message = (Message) entry.event();
    var accepted =
        new Accepted(
            entry.contextId(), message.messageId(), taskOf(message), entry.position().seq());
    return new Entered(accepted, message, appended.replayed());
  }

  private Entry userMessage(ContextId context, Appended appended) {
    var after = Position.of(appended.first().seq() - 1);
    while (appended.last().after(after)) {
      var page = log.read(context, after, PAGE);
      for (var entry : page) {
        if (entry.position().compareTo(appended.first()) >= 0
            && entry.event() instanceof Message message
            && message.role() == Role.USER
            && message.metadata() != null
            && message.metadata().has("taskId")) {
          return entry;
        }
      }
      after = page.getLast().position();
    }
    throw new IllegalStateException("no message at " + appended.first() + " of " + context);
  }

  private static TaskId taskOf(Message message) {
    if (message.metadata() == null) {
      throw new IllegalStateException("the message has no task: " + message.messageId());
    }
    return new TaskId(message.metadata().path("taskId").asString());
  }

  /// True if the message steers this task.
  static boolean isSaidTo(Message message, TaskId task) {
    var metadata = message.metadata();
    return metadata != null
        && metadata.path(STEER).asBoolean(false)
        && metadata.path(HEARD_BY).valueStream().anyMatch(id -> id.asString().equals(task.value()));
  }
}
