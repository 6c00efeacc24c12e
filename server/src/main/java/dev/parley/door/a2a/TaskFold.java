package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireArtifactUpdate;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.a2a.WireStatusUpdate;
import dev.parley.a2a.WireTask;
import dev.parley.door.FrameCursor;
import dev.parley.door.Voice;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.EarlyEnd;
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
public final class TaskFold {

  /// How many messages a task's history has at most.
  public static final int HISTORY_MAX = 1_000;

  private final Marks marks;
  private final Version version;
  private final Voice voice;
  private final Speech speech;
  private final Standing standing;
  private final AgentCalls calls;
  private final Making making;
  private final List<WireMessage> history = new ArrayList<>();
  private final Spent spent = new Spent();
  private boolean whole = true;
  private boolean begun;
  private Position position = Position.START;
  private WireStatus status = new WireStatus(WireState.SUBMITTED, null, null);
  private Set<Id> asked = Set.of();
  private Position askedAt = Position.START;
  private @Nullable EarlyEnd earlyEnd;
  private @Nullable ErrorReported error;
  private @Nullable ObjectNode told;
  private boolean direct;

  /// An item of a stream and its frame id.
  public record Told(FrameCursor id, WireItem item) {}

  public TaskFold(Voice voice, Marks marks, Version version) {
    this(voice, marks, version, false);
  }

  /// @param repeated whether the last chunk of a text repeats the whole text, for clients that show
  ///     only that chunk
  TaskFold(Voice voice, Marks marks, Version version, boolean repeated) {
    this.voice = voice;
    this.marks = marks;
    this.version = version;
    this.speech = new Speech(marks, version);
    this.standing = new Standing(marks.root());
    this.calls = new AgentCalls(speech, marks.told());
    this.making = new Making(repeated);
  }

  /// The position of the last applied entry.
  public Position position() {
    return position;
  }

  /// The state of the task.
  public WireState state() {
    return status.state();
  }

  public Marks marks() {
    return marks;
  }

  /// The position of the open question; the last position if there is none.
  Position openSince() {
    return status.state().interrupted() ? askedAt : position;
  }

  /// The open questions.
  List<Standing.Question> questions() {
    return standing.asked();
  }

  /// True once the task was created.
  boolean begun() {
    return begun;
  }

  /// True if the history has this message with the same content.
  boolean knows(WireMessage message) {
    return history.stream()
        .anyMatch(
            earlier ->
                earlier.messageId().equals(message.messageId())
                    && earlier.parts().equals(message.parts()));
  }

  /// True if the history has a message with this id.
  boolean knowsId(String messageId) {
    return history.stream().anyMatch(earlier -> earlier.messageId().equals(messageId));
  }

  /// Applies the next entry of the context and returns the resulting stream items.
  public List<Told> take(Entry entry) {
    position = entry.position();
    var items = items(entry);
    if (items.isEmpty()) {
      return List.of();
    }
    var all = new ArrayList<Told>(items.size());
    var ids = FrameCursor.each(position.toString(), items.size());
    for (var i = 0; i < items.size(); i++) {
      all.add(new Told(ids.get(i), items.get(i)));
    }
    return all;
  }

  private List<WireItem> items(Entry entry) {
    if (status.state().terminal()) {
      return List.of();
    }
    var origin = entry.origin();
    if (origin == null) {
      if (entry.event() instanceof Message message && isOurs(message)) {
        remember(speech.message(message));
        standing.hear(entry);
      }
      return List.of();
    }
    if (!origin.rootTaskId().equals(marks.root())) {
      return List.of();
    }
    standing.take(entry, origin);
    return switch (entry.event()) {
      case TaskCreated created when !begun -> begin(entry, created);
      case ContentDelta delta when voice.speaks(entry) ->
          pieces(List.of(making.text(origin.taskId(), delta)));
      case ContentComplete end when voice.speaks(entry) -> {
        earlyEnd = EarlyEnd.of(end.finishReason()).orElse(null);
        yield pieces(making.text(origin.taskId(), end));
      }
      case FileWrite write -> pieces(List.of(making.file(write)));
      case DataWrite write -> pieces(List.of(making.data(write)));
      case DatasetWrite write -> pieces(List.of(making.rows(write)));
      case ToolStart start when voice.speaks(entry) ->
          calls.start(entry, origin, start).map(call -> works(entry, call)).orElse(List.of());
      case ToolComplete end when voice.speaks(entry) ->
          works(entry, calls.complete(entry, origin, end));
      case SubtaskCreated created when voice.speaks(entry) ->
          worksAndMoves(entry, origin, calls.created(entry, origin, created));
      case SubtaskComplete end when voice.speaks(entry) ->
          worksAndMoves(entry, origin, calls.completed(entry, end));
      case Message message when isRoot(origin) -> {
        remember(speech.message(message));
        earlyEnd = EarlyEnd.in(message.metadata()).orElse(earlyEnd);
        yield List.of();
      }
      default -> moved(entry, origin);
    };
  }

  private boolean isOurs(Message message) {
    return message.role() == Role.USER
        && message.metadata() != null
        && message.metadata().path("taskId").asString("").equals(marks.root().value());
  }

  private boolean isRoot(Origin origin) {
    return origin.taskId().equals(marks.root());
  }

  private void remember(WireMessage message) {
    if (!whole) {
      return;
    }
    history.add(message);
    if (history.size() > HISTORY_MAX) {
      history.removeFirst();
    }
  }

  /// In 0.3 the first task has no history, because clients would take it for the whole session. The
  /// message is in the first status update instead.
  private List<WireItem> begin(Entry entry, TaskCreated created) {
    begun = true;
    told = created.metadata();
    status = new WireStatus(WireState.SUBMITTED, null, entry.timestamp());
    if (version == Version.V1_0) {
      return List.of(task(null, true));
    }
    var first = history.isEmpty() ? null : history.getLast();
    var task = task(null, true);
    return List.of(
        new WireTask(task.id(), task.contextId(), status, List.of(), List.of(), task.metadata()),
        update(new WireStatus(WireState.SUBMITTED, first, entry.timestamp())));
  }

  private List<WireItem> pieces(List<Making.Piece> pieces) {
    return pieces.stream()
        .<WireItem>map(
            piece ->
                new WireArtifactUpdate(
                    marks.root().value(),
                    marks.context().value(),
                    piece.artifact(),
                    piece.append(),
                    piece.last(),
                    marks.ofPiece(piece.kind())))
        .toList();
  }

  /// A status update: the task is working, with this message.
  private List<WireItem> works(Entry entry, WireMessage message) {
    remember(message);
    return List.of(stands(WireState.WORKING, message, entry.timestamp()));
  }

  /// The status update for `message`, if present, followed by any change of the task's state.
  private List<WireItem> worksAndMoves(Entry entry, Origin origin, Optional<WireMessage> message) {
    var items = new ArrayList<WireItem>();
    message.ifPresent(shown -> items.addAll(works(entry, shown)));
    items.addAll(moved(entry, origin));
    return items;
  }

  /// Applies an entry and returns the change of the task's state, if any.
  private List<WireItem> moved(Entry entry, Origin origin) {
    switch (entry.event()) {
      case InputReceived received when received.providedBy() == InputEvent.Provider.USER ->
          remember(speech.answer(entry, received));
      case ErrorReported failure when failure.scope() == ErrorScope.TASK && isRoot(origin) ->
          error = failure;
      case Usage usage -> spent.add(usage);
      case TaskComplete(_, _, var metadata) when isRoot(origin) && metadata != null -> {
        direct = metadata.path(Speech.KEPT).path("message").asBoolean(false);
        earlyEnd = EarlyEnd.in(metadata).orElse(earlyEnd);
      }
      default -> {} // The state fold handles all other events.
    }
    var state = standing.state();
    if (state.interrupted()) {
      return asks(entry, state);
    }
    if (state == status.state()) {
      return List.of();
    }
    asked = Set.of();
    if (state == WireState.COMPLETED) {
      // Only an answer without text gets an explanation; text is never added to an answer.
      var message =
          earlyEnd != null && making.isEmpty()
              ? speech.reason(entry, earlyEnd.explanation(), null)
              : null;
      return List.of(stands(state, message, entry.timestamp()));
    }
    if (!state.terminal()) {
      return List.of(stands(state, null, entry.timestamp()));
    }
    var reason = reason(entry, state);
    remember(reason);
    return List.of(stands(state, reason, entry.timestamp()));
  }

  private List<WireItem> asks(Entry entry, WireState state) {
    var questions = standing.asked();
    var ids = questions.stream().map(Standing.Question::id).collect(Collectors.toSet());
    if (state == status.state() && ids.equals(asked)) {
      return List.of();
    }
    asked = ids;
    askedAt = position;
    var question = speech.question(entry, questions);
    remember(question);
    return List.of(stands(state, question, entry.timestamp()));
  }

  private WireMessage reason(Entry entry, WireState state) {
    var why =
        entry.event() instanceof TaskStatus(_, var message, var metadata)
            ? metadata == null ? message : metadata.path("reason").asString(message)
            : null;
    return error == null
        ? speech.reason(entry, why == null ? state.kebab() : why, null)
        : speech.reason(entry, error.message(), error.code().wire());
  }

  private WireStatusUpdate stands(WireState state, @Nullable WireMessage message, Instant time) {
    status = new WireStatus(state, message, time);
    return update(status);
  }

  private WireStatusUpdate update(WireStatus now) {
    var last = now.state().terminal() || now.state().interrupted();
    var metadata = now.state() == WireState.COMPLETED ? Speech.withEnd(null, earlyEnd) : null;
    return new WireStatusUpdate(marks.root().value(), marks.context().value(), now, last, metadata);
  }

  /// The task in its current state.
  ///
  /// @param historyLength how many of the latest messages to return; all if null, no history if 0
  public WireTask task(@Nullable Integer historyLength, boolean artifacts) {
    if (!whole) {
      throw new IllegalStateException("the history was discarded");
    }
    var from = historyLength == null ? 0 : Math.max(0, history.size() - Math.max(0, historyLength));
    var wanted = Objects.equals(historyLength, 0) ? null : history.subList(from, history.size());
    return new WireTask(
        marks.root().value(),
        marks.context().value(),
        status,
        artifacts ? making.all() : List.of(),
        wanted,
        metadata());
  }

  private @Nullable ObjectNode metadata() {
    var metadata = marks.ofTask();
    if (marks.told()) {
      spent.write(metadata);
    }
    if (told != null && told.path(Speech.KEPT).has("tenant")) {
      metadata.put("tenant", told.path(Speech.KEPT).path("tenant").asString());
    }
    var all = status.state() == WireState.COMPLETED ? Speech.withEnd(metadata, earlyEnd) : metadata;
    return all == null || all.isEmpty() ? null : all;
  }

  /// The answer as a message without a task, if the agent requests this.
  Optional<WireMessage> answer() {
    if (!direct || history.isEmpty()) {
      return Optional.empty();
    }
    var last = history.getLast();
    return Optional.of(
        new WireMessage(
            last.messageId(), last.contextId(), null, last.role(), last.parts(), last.metadata()));
  }

  /// Discards the history, and from now on keeps only what the next items need.
  public void forget() {
    whole = false;
    history.clear();
    making.forget();
  }
}
