package dev.parley.log;

import dev.parley.log.OpenTask.OpenBlock;
import dev.parley.log.OpenTask.OpenCall;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContentEvent;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
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
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The part of a context's state that decisions need: its open tasks, and their open tool calls,
/// questions and text blocks.
///
/// It is a fold of the log, and stays small because ended tasks leave it. It also enforces the
/// rules that no append may break: no event of a task before its `task-created` or after its end,
/// no illegal state transition, no end of a tool call that has not started. Used under the
/// context's lock only.
public final class ContextState {

  private final Map<TaskId, OpenTask> tasks = new LinkedHashMap<>();
  private final Map<InputId, OpenInput> inputs = new LinkedHashMap<>();
  private final Map<AuthId, OpenAuth> auths = new LinkedHashMap<>();
  private final Map<ArtifactId, ArtifactHead> artifacts = new LinkedHashMap<>();
  private String owner = "";
  private long sharedTo;
  private @Nullable String workingDirectory;
  private Position head = Position.START;

  /// The position of the last event, durable or not.
  public Position head() {
    return head;
  }

  /// The owner of the context.
  public String owner() {
    return owner;
  }

  /// The last seq that this context shares with the context that it was forked from; 0 if it is not
  /// a fork.
  public long sharedTo() {
    return sharedTo;
  }

  /// The working directory of the latest root task, even if that task was rewound. Missing if there
  /// was none, or if an earlier version stored the state.
  public Optional<String> workingDirectory() {
    return Optional.ofNullable(workingDirectory);
  }

  /// Tasks that have not ended, oldest first.
  public Collection<OpenTask> openTasks() {
    return Collections.unmodifiableCollection(tasks.values());
  }

  /// The task, if it exists and has not ended.
  public Optional<OpenTask> openTask(@Nullable TaskId task) {
    return task == null ? Optional.empty() : Optional.ofNullable(tasks.get(task));
  }

  /// The request for input, if it is still open.
  public Optional<OpenInput> openInput(InputId input) {
    return Optional.ofNullable(inputs.get(input));
  }

  /// Open requests for input, oldest first.
  public Collection<OpenInput> openInputs() {
    return Collections.unmodifiableCollection(inputs.values());
  }

  /// The request for a sign-in, if it is still open.
  public Optional<OpenAuth> openAuth(AuthId auth) {
    return Optional.ofNullable(auths.get(auth));
  }

  /// Open requests for a sign-in, oldest first.
  public Collection<OpenAuth> openAuths() {
    return Collections.unmodifiableCollection(auths.values());
  }

  /// The latest write to the artifact, if it has one that was not rewound.
  public Optional<ArtifactHead> artifact(ArtifactId artifact) {
    return Optional.ofNullable(artifacts.get(artifact)).filter(head -> head.version() > 0);
  }

  /// The next version: one that was never used, even if the context was rewound.
  public int nextVersion(ArtifactId artifact) {
    var head = artifacts.get(artifact);
    return head == null ? 1 : head.nextVersion();
  }

  ContextState copy() {
    var copy = new ContextState();
    copy.restore(owner, head, tasks.values().stream().map(OpenTask::copy).toList());
    copy.inputs.putAll(inputs);
    copy.auths.putAll(auths);
    copy.artifacts.putAll(artifacts);
    copy.sharedTo = sharedTo;
    copy.workingDirectory = workingDirectory;
    return copy;
  }

  Map<ArtifactId, ArtifactHead> artifacts() {
    return artifacts;
  }

  Map<InputId, OpenInput> inputs() {
    return inputs;
  }

  Map<AuthId, OpenAuth> auths() {
    return auths;
  }

  void restore(String owner, Position head, Collection<OpenTask> open) {
    this.owner = owner;
    this.head = head;
    open.forEach(task -> tasks.put(task.origin().taskId(), task));
  }

  /// The block that `event` of `origin` ends, if its text equals the joined deltas.
  Optional<OpenBlock> wholeBlock(@Nullable Origin origin, ContentComplete event) {
    var task = origin == null ? null : tasks.get(origin.taskId());
    var block = event.blockId();
    if (task == null || block == null) {
      return Optional.empty();
    }
    return Optional.ofNullable(task.openBlocks().get(block))
        .filter(open -> open.isWhole(event.content()));
  }

  /// Checks an event against the rules and applies it.
  ///
  /// @throws Rejection.Conflict if the event breaks a rule; then the state is unchanged
  void validateAndApply(EventDraft eventDraft, Position position) {
    check(eventDraft);
    apply(eventDraft.origin(), eventDraft.event(), position);
  }

  /// Applies an event that is already in the log.
  void apply(@Nullable Origin origin, Event event, Position position) {
    head = position;
    switch (event) {
      case ContextCreated created -> owner = created.owner();
      case ContextForked forked -> fork(forked);
      case ContextRewound rewound -> rewind(rewound);
      case InputEvent input -> apply(origin, input, position);
      case AuthEvent auth -> apply(origin, auth, position);
      case Message message -> steer(message, position);
      case ArtifactEvent artifact ->
          artifacts.merge(
              artifact.artifactId(),
              ArtifactHead.first(artifact),
              (before, _) -> before.plus(artifact));
      default -> {} // Task events are applied below; decisions do not need the rest.
    }
    if (origin != null) {
      applyToTask(origin, event, position);
    }
  }

  void setWorkingDirectory(@Nullable String folder) {
    workingDirectory = folder;
  }

  void setSharedTo(long seq) {
    sharedTo = seq;
  }

  private void fork(ContextForked forked) {
    owner = forked.owner() == null ? owner : forked.owner();
    setSharedTo(forked.atSeq());
  }

  /// No task is open during a rewind, so only artifacts can change.
  private void rewind(ContextRewound rewound) {
    if (rewound.artifactDelta() != null) {
      rewound
          .artifactDelta()
          .forEachEntry(
              (id, version) ->
                  artifacts.computeIfPresent(
                      new ArtifactId(id), (_, head) -> head.rewindTo(version.asInt(0))));
    }
  }

  /// The artifacts whose heads an event changes.
  static Set<ArtifactId> artifactsIn(Event event) {
    return switch (event) {
      case ArtifactEvent artifact -> Set.of(artifact.artifactId());
      case ContextRewound rewound when rewound.artifactDelta() != null ->
          rewound.artifactDelta().propertyNames().stream()
              .map(ArtifactId::new)
              .collect(Collectors.toSet());
      default -> Set.of(); // No other event changes artifacts.
    };
  }

  private void check(EventDraft eventDraft) {
    var origin = eventDraft.origin();
    if (origin == null) {
      if (eventDraft.event() instanceof ContextCreated && !head.equals(Position.START)) {
        throw new Rejection.Conflict("context-exists", "the context exists already");
      }
      if (eventDraft.event() instanceof ContextRewound && !tasks.isEmpty()) {
        throw new Rejection.Conflict("busy", "a task of this context has not ended");
      }
      if (eventDraft.event() instanceof TaskEvent) {
        throw new IllegalArgumentException(
            "a task's event needs its origin: " + eventDraft.event());
      }
      return;
    }
    var task = tasks.get(origin.taskId());
    if (eventDraft.event() instanceof TaskCreated) {
      if (task != null) {
        throw new Rejection.Conflict("task-exists", "the task exists: " + origin.taskId());
      }
      return;
    }
    if (eventDraft.event() instanceof TaskEvent.TaskStored
        || eventDraft.event() instanceof TaskEvent.TaskDeleted) {
      return;
    }
    if (task == null) {
      throw new Rejection.Conflict("task-ended", "the task has ended: " + origin.taskId());
    }
    check(task, eventDraft.event());
    checkStillOpen(eventDraft.event());
  }

  /// Rejects an answer to, or the expiry of, a request that is not open.
  private void checkStillOpen(Event event) {
    var wanted =
        switch (event) {
          case InputReceived received -> inputs.containsKey(received.inputId());
          case InputLapsed lapsed -> inputs.containsKey(lapsed.inputId());
          case AuthCompleted completed -> auths.containsKey(completed.authId());
          case AuthLapsed lapsed -> auths.containsKey(lapsed.authId());
          default -> true;
        };
    if (!wanted) {
      throw new Rejection.Conflict(
          "not-wanted", "the question was already answered or has expired");
    }
  }

  private static void check(OpenTask task, Event event) {
    var completed = task.state() == TaskState.COMPLETED;
    if (completed != event instanceof TaskComplete) {
      throw new Rejection.Conflict(
          "task-ended", "only task-complete follows completed: " + task.origin().taskId());
    }
    switch (event) {
      case TaskStatus status -> {
        if (!task.state().mayBecome(status.status())) {
          throw new Rejection.Conflict(
              "illegal-transition",
              "a task cannot go from " + task.state().wire() + " to " + status.status().wire());
        }
      }
      case ToolStart start -> {
        if (task.openCalls().containsKey(start.toolCallId())) {
          throw new Rejection.Conflict(
              "tool-running", "the tool call is already running: " + start.toolCallId());
        }
      }
      case ToolComplete end -> {
        if (!task.openCalls().containsKey(end.toolCallId())) {
          throw new Rejection.Conflict(
              "tool-ended", "the tool call has ended: " + end.toolCallId());
        }
      }
      default -> {} // No rule beyond those for every event of a task.
    }
  }

  private void applyToTask(Origin origin, Event event, Position position) {
    if (event instanceof TaskCreated created) {
      tasks.put(origin.taskId(), new OpenTask(origin, position.seq(), created));
      var root = tasks.get(origin.rootTaskId());
      if (root != null && origin.parentTaskId() != null) {
        root.countDescendant();
      }
      if (origin.parentTaskId() == null && created.workingDirectory() != null) {
        setWorkingDirectory(created.workingDirectory());
      }
      return;
    }
    var task = tasks.get(origin.taskId());
    if (task == null) {
      return;
    }
    switch (event) {
      case TaskStatus changed -> {
        var status = changed.status();
        var delegates = status == TaskState.WORKING && !changed.facts().subtaskIds().isEmpty();
        task.setState(status, delegates, position.seq());
        countRecoveries(task, changed);
        if (status.waiting() && changed.facts().askedOfParent().isPresent()) {
          // A parent agent is asked, and only this task can ask it, so the task has work to do.
          task.wake(position.seq() + 1);
        }
        if (status == TaskState.FAILED || status == TaskState.CANCELED) {
          removeTask(origin, position);
        }
      }
      case TaskComplete _ -> removeTask(origin, position);
      case CancelRequested _ -> task.requestCancel();
      case ToolStart start ->
          task.startCall(
              start.toolCallId(), new OpenCall(start.toolName(), start.subagentMetadata()));
      case ToolComplete end -> {
        task.end(end.toolCallId());
        task.wake(position.seq());
        if (end.outcome() == null) {
          task.setRecoveries(0);
        }
      }
      case ContentDelta delta -> extend(task, delta, position);
      case ContentComplete(_, var block, _, _, _, _) -> {
        if (block != null) {
          task.end(block);
        }
      }
      default -> {} // Decisions do not depend on other events.
    }
  }

  /// Counts consecutive recoveries of a task after a crash. The count restarts when the task waits,
  /// when a tool call returns, and when the server shuts down normally.
  private static void countRecoveries(OpenTask task, TaskStatus changed) {
    if (task.waiting() || changed.facts().handedBack()) {
      task.setRecoveries(0);
    } else if (changed.facts().recovered()) {
      task.setRecoveries(task.recoveries() + 1);
    }
  }

  private static void extend(OpenTask task, ContentDelta delta, Position position) {
    var block = delta.blockId();
    if (block != null) {
      var open = task.openBlocks().get(block);
      task.put(block, (open == null ? OpenBlock.begin(position.seq()) : open).plus(delta.delta()));
    }
  }

  private void apply(@Nullable Origin origin, InputEvent event, Position position) {
    switch (event) {
      case InputRequired required -> {
        if (origin != null) {
          inputs.put(required.inputId(), new OpenInput(origin.taskId(), required, position.seq()));
        }
      }
      case InputReceived received -> wake(inputs.remove(received.inputId()), position);
      case InputLapsed lapsed -> wake(inputs.remove(lapsed.inputId()), position);
    }
  }

  private void apply(@Nullable Origin origin, AuthEvent event, Position position) {
    switch (event) {
      case AuthRequired required -> {
        if (origin != null) {
          auths.put(required.authId(), new OpenAuth(origin.taskId(), required));
        }
      }
      case AuthCompleted completed -> wake(auths.remove(completed.authId()), position);
      case AuthLapsed lapsed -> wake(auths.remove(lapsed.authId()), position);
    }
  }

  private void wake(@Nullable OpenInput input, Position position) {
    openTask(input == null ? null : input.task()).ifPresent(task -> task.wake(position.seq()));
  }

  private void wake(@Nullable OpenAuth auth, Position position) {
    openTask(auth == null ? null : auth.task()).ifPresent(task -> task.wake(position.seq()));
  }

  /// Wakes the tasks that a steering message is addressed to.
  private void steer(Message message, Position position) {
    if (message.facts().steers()) {
      for (var task : message.facts().heardBy()) {
        openTask(task).ifPresent(heard -> heard.wake(position.seq()));
      }
    }
  }

  private void removeTask(Origin origin, Position position) {
    var task = origin.taskId();
    var ended = tasks.remove(task);
    inputs.values().removeIf(input -> input.task().equals(task));
    auths.values().removeIf(auth -> auth.task().equals(task));
    var parent = origin.parentTaskId();
    if (ended != null && ended.created().facts().hosted()) {
      // The parent runs a hosted task itself and reports its end, so it does not wait for it.
      return;
    }
    if (parent != null
        && tasks.values().stream().noneMatch(other -> sameInvocation(other, origin))) {
      openTask(parent).ifPresent(waiting -> waiting.wake(position.seq()));
    }
  }

  /// True if one tool call spawned both tasks.
  private static boolean sameInvocation(OpenTask task, Origin origin) {
    return Objects.equals(task.origin().parentTaskId(), origin.parentTaskId())
        && Objects.equals(task.origin().invocationId(), origin.invocationId());
  }

  /// A state that a reader folds from the entries that it reads. For one thread.
  ///
  /// Readers and decisions use the same transitions, so they always agree on the state of a task.
  public static final class Fold {

    private final ContextState state = new ContextState();

    /// Applies the next entry. Text and artifacts do not affect the state of a task.
    public void apply(Entry entry) {
      if (!(entry.event() instanceof ContentEvent) && !(entry.event() instanceof ArtifactEvent)) {
        state.apply(entry.origin(), entry.event(), entry.position());
      }
    }

    /// The state after the entries applied so far.
    public ContextState state() {
      return state;
    }
  }

  /// A sign-in that a task requested and that has not happened yet.
  public record OpenAuth(TaskId task, AuthRequired required) {}

  /// Input that a task requested and has not received. `askedSeq` is the seq of the request; missing
  /// in states that earlier versions stored.
  public record OpenInput(TaskId task, InputRequired required, @Nullable Long askedSeq) {}
}
