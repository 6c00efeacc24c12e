package dev.parley.agent;

import dev.parley.agent.CallStory.Purpose;
import dev.parley.agent.CallStory.Question;
import dev.parley.model.Prompt.Part;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Asked;
import dev.parley.tool.Answer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// The progress of a task: a fold of its events. A task that was parked or interrupted continues
/// from here.
///
/// Not thread-safe.
final class Story {

  /// In the metadata of a question: its purpose.
  static final String PURPOSE = Asked.PURPOSE;

  /// In the metadata of a status: the question that a parent agent is asked.
  static final String INPUT_ID = "inputId";

  /// In the metadata of progress: the number of the attempt that starts.
  static final String ATTEMPT = "attempt";

  /// In the state of a checkpoint: data that only the model provider interprets.
  static final String MEMO = "memo";

  private final List<Part> parts = new ArrayList<>();
  private final List<Part> unheard = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private final Map<ToolCallId, CallStory> calls = new LinkedHashMap<>();
  private final Set<ToolCallId> used = new HashSet<>();
  private @Nullable BlockId cut;
  private boolean asking;
  private boolean answered;
  private int iteration;
  private int attempts;
  private int failedTurns;
  private int thoughts;
  private long tokens;
  private List<Part.Returned> returned = List.of();

  /// Adds new entries.
  void read(List<Entry> news) {
    news.forEach(this::read);
  }

  /// The messages and tool results since the task's own prompt, as parts of the next prompt.
  List<Part> parts() {
    return List.copyOf(parts);
  }

  /// Messages to the task that no prompt has included yet.
  List<Part> unheard() {
    return List.copyOf(unheard);
  }

  /// The calls of the unfinished turn, in their order; empty if there is no such turn.
  List<CallStory> calls() {
    return List.copyOf(calls.values());
  }

  /// The results of the previous turn's calls, if the next model call follows them.
  List<Part.Returned> returned() {
    return returned;
  }

  /// True if a call of this task used this id.
  boolean used(ToolCallId call) {
    return used.contains(call);
  }

  /// True if the model has answered without calling a tool, and there is no newer message.
  boolean answered() {
    return answered && unheard.isEmpty();
  }

  /// All text of the model's answers.
  String answer() {
    return answers.stream().filter(text -> !text.isBlank()).collect(Collectors.joining("\n\n"));
  }

  /// The number of the next model call; unchanged if the last one was interrupted.
  int nextIteration() {
    return asking ? iteration : iteration + 1;
  }

  /// How often the next model call was already attempted.
  int attempts() {
    return asking ? attempts : 0;
  }

  /// The interrupted text that the next one replaces.
  @Nullable BlockId cut() {
    return cut;
  }

  /// The number of consecutive turns in which every tool failed.
  int failedTurns() {
    return failedTurns;
  }

  int thoughts() {
    return thoughts;
  }

  long tokens() {
    return tokens;
  }

  private void read(Entry entry) {
    switch (entry.event()) {
      case Message message when message.role() == Role.USER ->
          unheard.add(new Part.Said(Role.USER, message.content()));
      case InternalLlmCall call -> ask(call);
      case ContentComplete block -> end(block);
      case InternalCheckpoint checkpoint -> keep(checkpoint);
      case ThoughtStream thought -> thoughts = Math.max(thoughts, thought.index() + 1);
      case Usage usage -> tokens += usage.totalTokens();
      case ToolStart start ->
          find(start.toolCallId()).ifPresent(call -> call.begin(start, entry.timestamp()));
      case ToolProgress progress -> find(progress.toolCallId()).ifPresent(c -> go(c, progress));
      case ToolComplete end -> end(end);
      case InputRequired asked ->
          Asked.by(asked).flatMap(this::find).ifPresent(c -> c.ask(question(asked)));
      case InputReceived(var id, _, _, _, _, var value) ->
          answer(id.value(), Answer.of(value == null ? NullNode.instance : value));
      case InputLapsed(var id, var reason, _) -> answer(id.value(), lapsed(reason));
      case AuthRequired asked ->
          Asked.by(asked).flatMap(this::find).ifPresent(c -> c.ask(question(asked)));
      case AuthCompleted(var id, _, _) -> answer(id.value(), new Answer.Given(BooleanNode.TRUE));
      case AuthLapsed(var id, var reason, _) -> answer(id.value(), lapsed(reason));
      case SubtaskCreated created -> spawn(created);
      case SubtaskComplete complete -> end(complete);
      case TaskStatus(var state, _, var metadata) when state == TaskState.WAITING_INPUT ->
          consult(metadata);
      default -> {} // Does not affect the next step.
    }
  }

  private void ask(InternalLlmCall call) {
    attempts = asking && iteration == call.iteration() ? attempts + 1 : 1;
    iteration = call.iteration();
    asking = true;
    answered = false;
    parts.addAll(unheard);
    unheard.clear();
  }

  private void end(ContentComplete block) {
    if (Boolean.TRUE.equals(block.partial())) {
      cut = block.blockId();
      return;
    }
    asking = false;
    cut = null;
    returned = List.of();
    answers.add(block.content());
    var wanted = block.toolCalls();
    if (wanted == null || wanted.isEmpty()) {
      answered = true;
      parts.add(new Part.Said(Role.ASSISTANT, block.content()));
      return;
    }
    parts.add(new Part.Asked(block.content(), wanted, null));
    for (var call : wanted) {
      used.add(call.id());
      calls.put(call.id(), new CallStory(call));
    }
  }

  /// The checkpoint directly follows the end of its turn, in the same append.
  private void keep(InternalCheckpoint checkpoint) {
    var memo = checkpoint.state() == null ? null : checkpoint.state().get(MEMO);
    if (memo != null
        && !parts.isEmpty()
        && parts.getLast() instanceof Part.Asked(var text, var wanted, _)) {
      parts.set(parts.size() - 1, new Part.Asked(text, wanted, memo));
    }
  }

  private static void go(CallStory call, ToolProgress progress) {
    call.progress(progress.progress());
    if (progress.metadata() != null && progress.metadata().has(ATTEMPT)) {
      call.again(progress.metadata().path(ATTEMPT).asInt());
    }
  }

  private void end(ToolComplete end) {
    find(end.toolCallId()).ifPresent(call -> call.end(end));
    if (!calls.isEmpty() && calls.values().stream().allMatch(call -> call.end().isPresent())) {
      var results =
          calls.values().stream().map(call -> returned(call.end().orElseThrow())).toList();
      parts.addAll(results);
      returned = results;
      failedTurns = results.stream().anyMatch(Part.Returned::success) ? 0 : failedTurns + 1;
      calls.clear();
    }
  }

  private static Part.Returned returned(ToolComplete end) {
    JsonNode result =
        end.success() && end.result() != null
            ? end.result()
            : StringNode.valueOf(end.error() == null ? "" : end.error());
    return new Part.Returned(end.toolCallId(), end.toolName(), end.success(), result);
  }

  private Optional<CallStory> find(ToolCallId call) {
    return Optional.ofNullable(calls.get(call));
  }

  private static Question question(InputRequired asked) {
    return new Question(
        asked.inputId().value(),
        purpose(asked.metadata()),
        false,
        Boolean.TRUE.equals(asked.requireUser()),
        false,
        null);
  }

  private static Question question(AuthRequired asked) {
    return new Question(asked.authId().value(), purpose(asked.metadata()), true, true, false, null);
  }

  private static Purpose purpose(@Nullable ObjectNode metadata) {
    var name = metadata == null ? "" : metadata.path(PURPOSE).asString("");
    return name.isEmpty() ? Purpose.NEED : Purpose.valueOf(name.toUpperCase(Locale.ROOT));
  }

  private static Answer lapsed(@Nullable String reason) {
    return new Answer.Lapsed(reason == null ? "no answer" : reason);
  }

  private void answer(String id, Answer answer) {
    asked(id).ifPresent(call -> call.answer(answer));
  }

  private void consult(@Nullable ObjectNode metadata) {
    if (metadata != null) {
      asked(metadata.path(INPUT_ID).asString("")).ifPresent(CallStory::consult);
    }
  }

  private Optional<CallStory> asked(String id) {
    return calls.values().stream()
        .filter(call -> call.question().filter(question -> question.id().equals(id)).isPresent())
        .findFirst();
  }

  private void spawn(SubtaskCreated created) {
    spawner(created.subtaskId())
        .ifPresent(call -> call.children().put(created.subtaskId(), Optional.empty()));
  }

  private void end(SubtaskComplete complete) {
    spawner(complete.subtaskId())
        .ifPresent(call -> call.children().put(complete.subtaskId(), Optional.of(complete)));
  }

  private Optional<CallStory> spawner(dev.parley.protocol.TaskId child) {
    return calls.values().stream()
        .filter(call -> call.subagents().filter(s -> s.taskIds().contains(child)).isPresent())
        .findFirst();
  }
}
