package dev.parley.api.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.a2a.A2aMessageMapper.SubagentCallMapper;
import dev.parley.projection.TaskTree;
import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.projection.UsageTotals;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.stream.FrameCursor;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Folds the log into an A2A task, entry by entry, beginning before the task's first message.
///
/// The result depends only on these entries: folding the same log again gives the same items with
/// the same ids. For one thread.
public final class A2aTaskFold {

  /// How many messages a task's history has at most.
  public static final int HISTORY_MAX = 1_000;

  private final KagentMetadata marks;
  private final A2aVersion version;
  private final A2aMessageMapper messages;
  private final TaskTree tree = new TaskTree();
  private final SubagentCallMapper calls;
  private final ArtifactFold artifactFold;
  private final List<A2aMessage> history = new ArrayList<>();
  private final UsageTotals usage = new UsageTotals();
  private boolean retainsHistory = true;
  private boolean taskCreated;
  private Position position = Position.START;
  private A2aStatus status = new A2aStatus(A2aState.SUBMITTED, null, null);
  private Set<Id> askedIds = Set.of();
  private Position askedAt = Position.START;
  private @Nullable EarlyEnd earlyEnd;
  private boolean emptyAnswer;
  private @Nullable ObjectNode taskExtension;
  private boolean answersDirectly;

  /// An item of a stream and its frame id.
  public record A2aStreamItem(FrameCursor id, A2aResponseItem item) {}

  public A2aTaskFold(KagentMetadata marks, A2aVersion version) {
    this(marks, version, false);
  }

  /// @param repeated whether the last chunk of a text repeats the whole text, for clients that show
  ///     only that chunk
  A2aTaskFold(KagentMetadata marks, A2aVersion version, boolean repeated) {
    this.marks = marks;
    this.version = version;
    this.messages = new A2aMessageMapper(marks, version);
    this.calls = new SubagentCallMapper(messages, marks.enabled());
    this.artifactFold = new ArtifactFold(repeated);
  }

  /// The position of the last applied entry.
  public Position position() {
    return position;
  }

  /// The state of the task.
  public A2aState state() {
    return status.state();
  }

  public KagentMetadata kagentMetadata() {
    return marks;
  }

  /// The position of the open question; the last position if there is none.
  Position openSince() {
    return status.state().interrupted() ? askedAt : position;
  }

  /// The open questions of tasks that wait for a person.
  List<OpenQuestion> questions() {
    return tree.openQuestions().stream()
        .filter(asked -> tree.waitsForPerson(asked.origin().taskId()))
        .toList();
  }

  /// True once the task was created.
  boolean taskCreated() {
    return taskCreated;
  }

  /// True if the history has this message with the same content.
  boolean containsMessage(A2aMessage message) {
    return history.stream()
        .anyMatch(
            earlier ->
                earlier.messageId().equals(message.messageId())
                    && earlier.parts().equals(message.parts()));
  }

  /// True if the history has a message with this id.
  boolean containsMessageId(String messageId) {
    return history.stream().anyMatch(earlier -> earlier.messageId().equals(messageId));
  }

  /// Applies the next entry of the context and returns the resulting stream items.
  public List<A2aStreamItem> apply(Entry entry) {
    position = entry.position();
    var items = items(entry);
    if (items.isEmpty()) {
      return List.of();
    }
    var all = new ArrayList<A2aStreamItem>(items.size());
    var ids = FrameCursor.each(position.toString(), items.size());
    for (var i = 0; i < items.size(); i++) {
      all.add(new A2aStreamItem(ids.get(i), items.get(i)));
    }
    return all;
  }

  private List<A2aResponseItem> items(Entry entry) {
    if (status.state().terminal()) {
      return List.of();
    }
    var origin = entry.origin();
    if (origin == null) {
      if (entry.event() instanceof Message message && isOurs(message)) {
        addToHistory(messages.message(message));
        tree.apply(entry);
      }
      return List.of();
    }
    if (!origin.rootTaskId().equals(marks.root())) {
      return List.of();
    }
    tree.apply(entry);
    return switch (entry.event()) {
      case TaskCreated created when !taskCreated -> begin(entry, created);
      case ContentDelta delta when tree.isAnswer(origin) ->
          artifactUpdates(List.of(artifactFold.text(origin.taskId(), delta)));
      case ContentComplete end when tree.isAnswer(origin) -> {
        earlyEnd = EarlyEnd.of(end.finishReason()).orElse(null);
        yield artifactUpdates(artifactFold.text(origin.taskId(), end));
      }
      case FileWrite write -> artifactUpdates(List.of(artifactFold.file(write)));
      case DataWrite write -> artifactUpdates(List.of(artifactFold.data(write)));
      case DatasetWrite write -> artifactUpdates(List.of(artifactFold.rows(write)));
      case ToolStart start when tree.isAnswer(origin) ->
          calls
              .start(entry, origin, start)
              .map(call -> workingUpdate(entry, call))
              .orElse(List.of());
      case ToolComplete end when tree.isAnswer(origin) ->
          workingUpdate(entry, calls.complete(entry, origin, end));
      case SubtaskCreated created when tree.isAnswer(origin) ->
          workingAndState(entry, origin, calls.created(entry, origin, created));
      case SubtaskComplete end when tree.isAnswer(origin) ->
          workingAndState(entry, origin, calls.completed(entry, end));
      case Message message when isRoot(origin) -> {
        addToHistory(messages.message(message));
        earlyEnd = message.facts().earlyEnd().orElse(earlyEnd);
        emptyAnswer = message.facts().emptyAnswer();
        yield List.of();
      }
      default -> applyState(entry, origin);
    };
  }

  private boolean isOurs(Message message) {
    return message.role() == Role.USER
        && message.facts().taskId().filter(marks.root()::equals).isPresent();
  }

  private boolean isRoot(Origin origin) {
    return origin.taskId().equals(marks.root());
  }

  private void addToHistory(A2aMessage message) {
    if (!retainsHistory) {
      return;
    }
    history.add(message);
    if (history.size() > HISTORY_MAX) {
      history.removeFirst();
    }
  }

  /// In 0.3 the first task has no history, because clients would take it for the whole session. The
  /// message is in the first status update instead.
  private List<A2aResponseItem> begin(Entry entry, TaskCreated created) {
    taskCreated = true;
    taskExtension = created.facts().extension(A2aMessageMapper.METADATA_KEY).orElse(null);
    status = new A2aStatus(A2aState.SUBMITTED, null, entry.timestamp());
    if (version == A2aVersion.V1_0) {
      return List.of(task(null, true));
    }
    var first = history.isEmpty() ? null : history.getLast();
    var task = task(null, true);
    return List.of(
        new A2aTask(task.id(), task.contextId(), status, List.of(), List.of(), task.metadata()),
        update(new A2aStatus(A2aState.SUBMITTED, first, entry.timestamp())));
  }

  private List<A2aResponseItem> artifactUpdates(List<ArtifactFold.A2aArtifactChunk> pieces) {
    return pieces.stream()
        .<A2aResponseItem>map(
            chunk ->
                new A2aArtifactUpdate(
                    marks.root().value(),
                    marks.context().value(),
                    chunk.artifact(),
                    chunk.append(),
                    chunk.last(),
                    marks.ofChunk(chunk.kind())))
        .toList();
  }

  /// A status update: the task is working, with this message.
  private List<A2aResponseItem> workingUpdate(Entry entry, A2aMessage message) {
    addToHistory(message);
    return List.of(setStatus(A2aState.WORKING, message, entry.timestamp()));
  }

  /// The status update for `message`, if present, followed by any change of the task's state.
  private List<A2aResponseItem> workingAndState(
      Entry entry, Origin origin, Optional<A2aMessage> message) {
    var items = new ArrayList<A2aResponseItem>();
    message.ifPresent(shown -> items.addAll(workingUpdate(entry, shown)));
    items.addAll(applyState(entry, origin));
    return items;
  }

  /// Applies an entry and returns the change of the task's state, if any.
  private List<A2aResponseItem> applyState(Entry entry, Origin origin) {
    switch (entry.event()) {
      case InputReceived received when received.providedBy() == InputEvent.Provider.USER ->
          addToHistory(messages.answer(entry, received));
      case Usage used -> usage.add(used);
      case TaskComplete complete when isRoot(origin) -> {
        answersDirectly =
            complete
                .facts()
                .extension(A2aMessageMapper.METADATA_KEY)
                .filter(own -> own.path("message").asBoolean(false))
                .isPresent();
        earlyEnd = complete.facts().earlyEnd().orElse(earlyEnd);
      }
      default -> {} // The tree handles all other events.
    }
    var state = treeState();
    if (state.interrupted()) {
      return questionUpdate(entry, state);
    }
    if (state == status.state()) {
      return List.of();
    }
    askedIds = Set.of();
    if (state == A2aState.COMPLETED) {
      // Only an answer without text gets an explanation; text is never added to an answer.
      var message =
          earlyEnd != null && artifactFold.isEmpty()
              ? messages.statusMessage(entry, earlyEnd.explanation(), null)
              : null;
      return List.of(setStatus(state, message, entry.timestamp()));
    }
    if (!state.terminal()) {
      return List.of(setStatus(state, null, entry.timestamp()));
    }
    var reason = reason(entry, state);
    addToHistory(reason);
    return List.of(setStatus(state, reason, entry.timestamp()));
  }

  /// The state of the root task. Questions of its subtasks count as its own.
  private A2aState treeState() {
    var root = marks.root();
    var end = tree.end(root);
    if (end.isPresent()) {
      return switch (end.get()) {
        case COMPLETED -> A2aState.COMPLETED;
        case CANCELED -> A2aState.CANCELED;
        default ->
            tree.error(root).filter(error -> error.code() == ErrorCode.REJECTED).isPresent()
                ? A2aState.REJECTED
                : A2aState.FAILED;
      };
    }
    if (!tree.isActive(root)) {
      return A2aState.SUBMITTED;
    }
    if (!tree.treeWaitsForPerson(root)) {
      return A2aState.WORKING;
    }
    return questions().stream().anyMatch(asked -> asked.input() != null)
        ? A2aState.INPUT_REQUIRED
        : A2aState.AUTH_REQUIRED;
  }

  private List<A2aResponseItem> questionUpdate(Entry entry, A2aState state) {
    var questions = questions();
    var ids = questions.stream().map(OpenQuestion::id).collect(Collectors.toSet());
    if (state == status.state() && ids.equals(askedIds)) {
      return List.of();
    }
    askedIds = ids;
    askedAt = position;
    var question = messages.question(entry, questions);
    addToHistory(question);
    return List.of(setStatus(state, question, entry.timestamp()));
  }

  private A2aMessage reason(Entry entry, A2aState state) {
    var why =
        entry.event() instanceof TaskStatus status
            ? status.facts().reason().orElse(status.message())
            : null;
    return tree.error(marks.root())
        .map(error -> messages.statusMessage(entry, error.message(), error.code().wire()))
        .orElseGet(() -> messages.statusMessage(entry, why == null ? state.kebab() : why, null));
  }

  private A2aStatusUpdate setStatus(A2aState state, @Nullable A2aMessage message, Instant time) {
    status = new A2aStatus(state, message, time);
    return update(status);
  }

  private A2aStatusUpdate update(A2aStatus now) {
    var last = now.state().terminal() || now.state().interrupted();
    var metadata =
        now.state() == A2aState.COMPLETED
            ? A2aMessageMapper.withMarks(null, earlyEnd, emptyAnswer)
            : null;
    return new A2aStatusUpdate(marks.root().value(), marks.context().value(), now, last, metadata);
  }

  /// The task in its current state.
  ///
  /// @param historyLength how many of the latest messages to return; all if null, no history if 0
  public A2aTask task(@Nullable Integer historyLength, boolean artifacts) {
    if (!retainsHistory) {
      throw new IllegalStateException("the history was discarded");
    }
    var from = historyLength == null ? 0 : Math.max(0, history.size() - Math.max(0, historyLength));
    var wanted = Objects.equals(historyLength, 0) ? null : history.subList(from, history.size());
    return new A2aTask(
        marks.root().value(),
        marks.context().value(),
        status,
        artifacts ? artifactFold.all() : List.of(),
        wanted,
        metadata());
  }

  private @Nullable ObjectNode metadata() {
    var metadata = marks.ofTask();
    var used = usage.total();
    if (marks.enabled() && used.totalTokens() > 0) {
      metadata
          .putObject("kagent_usage_metadata")
          .put("promptTokenCount", used.allInputTokens())
          .put("candidatesTokenCount", used.outputTokens())
          .put("totalTokenCount", used.totalTokens());
    }
    if (taskExtension != null && taskExtension.has("tenant")) {
      metadata.put("tenant", taskExtension.path("tenant").asString());
    }
    var all =
        status.state() == A2aState.COMPLETED
            ? A2aMessageMapper.withMarks(metadata, earlyEnd, emptyAnswer)
            : metadata;
    return all == null || all.isEmpty() ? null : all;
  }

  /// The answer as a message without a task, if the agent requests this.
  Optional<A2aMessage> answer() {
    if (!answersDirectly || history.isEmpty()) {
      return Optional.empty();
    }
    var last = history.getLast();
    return Optional.of(
        new A2aMessage(
            last.messageId(), last.contextId(), null, last.role(), last.parts(), last.metadata()));
  }

  /// Discards the history, and from now on keeps only what the next items need.
  public void discardHistory() {
    retainsHistory = false;
    history.clear();
    artifactFold.discardContent();
  }
}
