package dev.parley.task;

import dev.parley.log.AppendResult;
import dev.parley.log.ContextState;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RoutingStrategy;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.WireName;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Validates submissions and appends each message with its task in one append.
final class MessageIntake {

  private static final int PAGE = 100;

  private final EventLog log;
  private final ContextHistory contextHistory;
  private final TaskSettings taskSettings;
  private final TaskSources taskSources;

  MessageIntake(
      EventLog log,
      ContextHistory contextHistory,
      TaskSettings taskSettings,
      TaskSources taskSources) {
    this.log = log;
    this.contextHistory = contextHistory;
    this.taskSettings = taskSettings;
    this.taskSources = taskSources;
  }

  /// A valid submission, and the events that it appends to an idle context.
  record ValidatedSubmission(
      Submission submission, Message message, Origin origin, TaskCreated created) {}

  /// A message that is in the log; `replayed` if an earlier request with the same key appended it.
  record AppendedMessage(AcceptedMessage accepted, Message message, boolean replayed) {}

  /// Rejects a submission that is invalid in a new context. Writes nothing.
  void checkNew(Submission submission) {
    var named = submission.options().workingDirectory();
    var _ = check(submission, taskSettings.workspaces().resolve(named, List::of));
  }

  /// Rejects a submission that is invalid in its context. Writes nothing.
  ValidatedSubmission check(Submission submission) {
    return check(submission, directory(submission));
  }

  /// The folder that the submission names, or else the folder in which the context last worked.
  private Path directory(Submission submission) {
    var context = submission.context();
    var workspaces = taskSettings.workspaces();
    var named = submission.options().workingDirectory();
    if (named != null) {
      return workspaces.resolve(named, () -> contextHistory.folders(context));
    }
    return lastFolder(context)
        .filter(workspaces::allowsKept)
        .map(folder -> workspaces.resolve(folder, () -> List.of(folder)))
        .orElseGet(() -> workspaces.resolve(null, List::of));
  }

  private Optional<String> lastFolder(ContextId context) {
    return log.inspect(context, ContextState::workingDirectory)
        // A state that an earlier version stored does not have the folder.
        .or(
            () ->
                log.head(context).seq() > 1
                    ? contextHistory.folders(context).stream().findFirst()
                    : Optional.empty());
  }

  private ValidatedSubmission check(Submission submission, Path directory) {
    var taskOptions = submission.options();
    if (submission.content().isBlank()) {
      throw new Rejection.Invalid("a message needs text");
    }
    if (submission.content().length() > taskSettings.limits().maxContentLength()) {
      throw new Rejection.TooLarge(
          "content-too-long",
          "a message has at most " + taskSettings.limits().maxContentLength() + " characters");
    }
    var agent = taskSettings.agents().resolve(taskOptions.agentId());
    var timeout = taskOptions.timeoutMs();
    if (timeout != null && (timeout < 1 || timeout > TaskLimits.TIMEOUT_MAX.toMillis())) {
      throw new Rejection.Invalid(
          "the timeout of a task is between 1 and "
              + TaskLimits.TIMEOUT_MAX.toMillis()
              + " ms, not "
              + timeout);
    }
    var type = taskOptions.taskType();
    if (type != null) {
      var _ = new TaskType(type);
    }
    var metadata =
        taskOptions.metadata() == null ? Json.object() : taskOptions.metadata().deepCopy();
    if (taskOptions.strategy() != null) {
      TaskFacts.putStrategy(
          metadata, WireName.parse(RoutingStrategy.class, "strategy", taskOptions.strategy()));
    }
    if (!taskOptions.clientTools().isEmpty()) {
      TaskFacts.putClientTools(metadata, taskOptions.clientTools());
    }
    if (taskOptions.whenBusy() == WhenBusy.INTERRUPT) {
      TaskFacts.putInterrupts(metadata);
    }
    taskSettings.agents().describe(agent, metadata);
    TaskFacts.setAccount(metadata, submission.account());
    var message = message(submission, taskSources.taskId(), List.of());
    var created =
        new TaskCreated(
            Initiator.USER,
            metadata,
            message.messageId(),
            submission.content(),
            type,
            taskOptions.priority(),
            timeout,
            directory.toString());
    return new ValidatedSubmission(
        submission, message, Origin.root(taskOf(message), agent), created);
  }

  /// Appends the message and its task. If the context is busy, the task waits in its queue.
  ///
  /// @throws Rejection.Conflict `busy` if the submission does not allow waiting
  AppendedMessage appendOrQueue(ValidatedSubmission validatedSubmission) {
    return append(validatedSubmission, state -> events(validatedSubmission, state));
  }

  /// Appends the message for the running task. Works like [#appendOrQueue] if that task has ended or is
  /// being canceled.
  AppendedMessage steer(ValidatedSubmission validatedSubmission, TaskId running) {
    var receivers = MessageReceivers.of(taskSettings.agents());
    return append(
        validatedSubmission,
        state -> {
          var hearing = receivers.recipients(state, running);
          return hearing.isEmpty()
              ? events(validatedSubmission, state)
              : withLapsedQuestions(
                  state, hearing, message(validatedSubmission.submission(), running, hearing));
        });
  }

  /// The message as the running task receives it.
  ///
  /// @throws Rejection.Conflict `busy` if no running task can receive it
  Function<ContextState, EventDraft> steeringMessage(ValidatedSubmission validatedSubmission) {
    var receivers = MessageReceivers.of(taskSettings.agents());
    return state -> {
      var running = ContextSchedule.running(state).map(task -> task.origin().taskId()).orElse(null);
      var hearing = running == null ? List.<OpenTask>of() : receivers.recipients(state, running);
      if (running == null || hearing.isEmpty()) {
        throw busy();
      }
      return EventDraft.of(message(validatedSubmission.submission(), running, hearing));
    };
  }

  /// Which agents receive messages. Agents are asked before the append, because a decision runs
  /// under the lock of the context and must not call foreign code.
  private record MessageReceivers(Set<AgentTypeId> resuming, Set<AgentTypeId> forwarding) {

    static MessageReceivers of(AgentDirectory agents) {
      return new MessageReceivers(
          idsOf(agents, Agent::resumes), idsOf(agents, Agent::forwardsMessages));
    }

    private static Set<AgentTypeId> idsOf(AgentDirectory agents, Predicate<Agent> which) {
      return agents.byId().entrySet().stream()
          .filter(agent -> which.test(agent.getValue()))
          .map(Map.Entry::getKey)
          .collect(Collectors.toSet());
    }

    /// The tasks that receive a message to this one: the task itself, or its direct subtasks.
    List<OpenTask> recipients(ContextState state, TaskId running) {
      return state.openTask(running).stream()
          .flatMap(
              task ->
                  forwarding.contains(task.origin().agentId())
                      ? ContextSchedule.children(state, running)
                      : Stream.of(task))
          .filter(task -> resuming.contains(task.origin().agentId()))
          .filter(task -> task.started() && !task.cancelRequested())
          .toList();
    }
  }

  /// The message, and the lapse of all open questions of its recipients: the message replaces the
  /// answers.
  private static List<EventDraft> withLapsedQuestions(
      ContextState state, List<OpenTask> hearing, Message message) {
    var drafts = new ArrayList<EventDraft>();
    for (var task : hearing) {
      for (var input : state.openInputs()) {
        if (input.task().equals(task.origin().taskId())) {
          var lapsed =
              new InputLapsed(
                  input.required().inputId(), "replaced by a message", message.principal());
          drafts.add(new EventDraft(task.origin(), lapsed));
        }
      }
      for (var auth : state.openAuths()) {
        if (auth.task().equals(task.origin().taskId())) {
          var lapsed =
              new AuthLapsed(
                  auth.required().authId(), "replaced by a message", message.principal());
          drafts.add(new EventDraft(task.origin(), lapsed));
        }
      }
    }
    drafts.add(EventDraft.of(message));
    return drafts;
  }

  /// Appends the events of `first`, such as a rewind and messages without a task, and then the
  /// submission.
  ///
  /// @throws Rejection.Conflict `busy` if a task of the context has not ended
  AppendedMessage replace(
      ValidatedSubmission validatedSubmission, Function<ContextState, List<EventDraft>> first) {
    return append(
        validatedSubmission,
        state -> {
          if (ContextSchedule.roots(state).findAny().isPresent()) {
            throw busy();
          }
          var drafts = new ArrayList<>(first.apply(state));
          drafts.addAll(events(validatedSubmission, state));
          return drafts;
        });
  }

  private Message message(Submission submission, TaskId task, List<OpenTask> hearing) {
    var messageLabel = submission.label();
    var metadata =
        messageLabel.metadata() == null ? Json.object() : messageLabel.metadata().deepCopy();
    MessageFacts.putTaskId(metadata, task);
    var taskOptions = submission.options();
    if (!hearing.isEmpty()) {
      MessageFacts.putSteering(
          metadata, hearing.stream().map(one -> one.origin().taskId()).toList());
      TaskFacts.of(taskOptions.metadata())
          .runId()
          .ifPresent(run -> MessageFacts.putRunId(metadata, run));
    }
    return new Message(
        messageLabel.messageId() == null ? taskSources.messageId() : messageLabel.messageId(),
        Role.USER,
        submission.content(),
        submission.parts(),
        metadata,
        submission.principal());
  }

  private List<EventDraft> events(ValidatedSubmission validatedSubmission, ContextState state) {
    var drafts = new ArrayList<EventDraft>();
    drafts.add(EventDraft.of(validatedSubmission.message()));
    drafts.add(new EventDraft(validatedSubmission.origin(), validatedSubmission.created()));
    var waiting = ContextSchedule.waiting(state);
    var ahead = ContextSchedule.running(state).or(() -> waiting.stream().findFirst()).orElse(null);
    if (ahead == null) {
      return drafts;
    }
    var whenBusy = validatedSubmission.submission().options().whenBusy();
    if (whenBusy == WhenBusy.REJECT) {
      throw busy();
    }
    if (waiting.size() >= taskSettings.limits().maxQueuedPerContext()) {
      throw new Rejection.Busy("queue-full", "too many tasks of this context are waiting");
    }
    var blocked = StatusFacts.ofQueued(ahead.origin().taskId());
    drafts.add(
        new EventDraft(
            validatedSubmission.origin(), new TaskStatus(TaskState.SUBMITTED, null, blocked)));
    if (whenBusy == WhenBusy.INTERRUPT && ahead.started()) {
      var request =
          new CancelRequested(
              validatedSubmission.submission().principal(), "interrupted by a message");
      drafts.addAll(ContextSchedule.cancel(state, ahead.origin().taskId(), request));
    }
    return drafts;
  }

  private static Rejection busy() {
    return new Rejection.Conflict("busy", "a task of this context is running");
  }

  private AppendedMessage append(ValidatedSubmission validatedSubmission, Decision decision) {
    var submission = validatedSubmission.submission();
    var appendResult = log.append(submission.context(), submission.guard(), decision);
    // Read back rather than computed, so that a replayed append returns the original answer.
    var entry = userMessage(submission.context(), appendResult);
    var message = (Message) entry.event();
    var acceptedMessage =
        new AcceptedMessage(
            entry.contextId(), message.messageId(), taskOf(message), entry.position().seq());
    return new AppendedMessage(acceptedMessage, message, appendResult.replayed());
  }

  private Entry userMessage(ContextId context, AppendResult appendResult) {
    var after = Position.of(appendResult.first().seq() - 1);
    while (appendResult.last().after(after)) {
      var page = log.read(context, after, PAGE);
      for (var entry : page) {
        if (entry.position().compareTo(appendResult.first()) >= 0
            && entry.event() instanceof Message message
            && message.role() == Role.USER
            && message.facts().taskId().isPresent()) {
          return entry;
        }
      }
      after = page.getLast().position();
    }
    throw new IllegalStateException("no message at " + appendResult.first() + " of " + context);
  }

  private static TaskId taskOf(Message message) {
    return message
        .facts()
        .taskId()
        .orElseThrow(
            () -> new IllegalStateException("the message has no task: " + message.messageId()));
  }
}
