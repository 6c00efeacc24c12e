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

/// A root task as A2A has it: takes in the log from before the task's message on, entry by entry.
///
/// What it says depends on those entries and on nothing else: whoever folds the same log says the same, under the
/// same ids. For one thread.
public final class TaskFold {

  /// The most messages that a task's history is told with.
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

  /// What is told, and where that stands.
  public record Told(FrameCursor id, WireItem item) {}

  public TaskFold(Voice voice, Marks marks, Version version) {
    this(voice, marks, version, false);
  }

  /// @param repeated whether the last piece of a text repeats all of it, for clients that show no other text at the end
  TaskFold(Voice voice, Marks marks, Version version, boolean repeated) {
    this.voice = voice;
    this.marks = marks;
    this.version = version;
    this.speech = new Speech(marks, version);
    this.standing = new Standing(marks.root());
    this.calls = new AgentCalls(speech, marks.told());
    this.making = new Making(repeated);
  }

  /// Where the last entry that was taken in stands.
  public Position position() {
    return position;
  }

  /// Where the task stands.
  public WireState state() {
    return status.state();
  }

  /// Whose task this is.
  public Marks marks() {
    return marks;
  }

  /// Where what the task now asks was asked; the last entry if it asks nothing.
  Position openSince() {
    return status.state().interrupted() ? askedAt : position;
  }

  /// What the task asks of people.
  List<Standing.Question> questions() {
    return standing.asked();
  }

  /// True once the task exists.
  boolean begun() {
    return begun;
  }

  /// True if this very message was said to the task.
  boolean knows(WireMessage message) {
    return history.stream()
        .anyMatch(
            earlier ->
                earlier.messageId().equals(message.messageId())
                    && earlier.parts().equals(message.parts()));
  }

  /// True if a message of the task has this id.
  boolean knowsId(String messageId) {
    return history.stream().anyMatch(earlier -> earlier.messageId().equals(messageId));
  }

  /// Takes in the next entry of the context, and says what it tells.
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

  /// 0.3 begins with a task without a history, so that nobody takes it for all that was said, and then has the message
  /// in its first state.
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

  /// The task works, and this is what it does.
  private List<WireItem> works(Entry entry, WireMessage message) {
    remember(message);
    return List.of(stands(WireState.WORKING, message, entry.timestamp()));
  }

  /// What the task does, if that is shown, and whatever the entry does to the task's state.
  private List<WireItem> worksAndMoves(Entry entry, Origin origin, Optional<WireMessage> message) {
    var items = new ArrayList<WireItem>();
    message.ifPresent(shown -> items.addAll(works(entry, shown)));
    items.addAll(moved(entry, origin));
    return items;
  }

  /// Whatever the entry does to the task's state.
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
      default -> {} // The standing knows what else there is.
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
      // An answer without text explains itself; a text is never put beside the answer.
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

  /// The task as it now stands.
  ///
  /// @param historyLength how many of the latest messages are wanted; all that are kept if it is missing, no history at
  ///     all if it is 0
  public WireTask task(@Nullable Integer historyLength, boolean artifacts) {
    if (!whole) {
      throw new IllegalStateException("what was said is no longer kept");
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

  /// The answer alone, where the agent says that there is no more to its task than that.
  Optional<WireMessage> answer() {
    if (!direct || history.isEmpty()) {
      return Optional.empty();
    }
    var last = history.getLast();
    return Optional.of(
        new WireMessage(
            last.messageId(), last.contextId(), null, last.role(), last.parts(), last.metadata()));
  }

  /// From now on keeps no more than it takes to tell what comes next.
  public void forget() {
    whole = false;
    history.clear();
    making.forget();
  }
}
