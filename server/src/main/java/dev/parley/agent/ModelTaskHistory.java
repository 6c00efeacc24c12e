package dev.parley.agent;

import dev.parley.agent.ToolCallHistory.ToolCallQuestion;
import dev.parley.model.Prompt.PromptPart;
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
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.QuestionPurpose;
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
import dev.parley.tool.ToolAnswer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.StringNode;

/// The progress of a task: a fold of its events. A task that was parked or interrupted continues
/// from here.
///
/// Not thread-safe.
final class ModelTaskHistory {

  /// In the state of a checkpoint: data that only the model provider interprets.
  static final String MEMO = "memo";

  private final List<PromptPart> parts = new ArrayList<>();
  private final List<PromptPart> pendingMessages = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private final Map<ToolCallId, ToolCallHistory> calls = new LinkedHashMap<>();
  private final Set<ToolCallId> used = new HashSet<>();
  private @Nullable BlockId interruptedBlock;
  private boolean asking;
  private boolean answered;
  private int iteration;
  private int attempts;
  private int failedTurns;
  private int thoughts;
  private long tokens;
  private List<PromptPart.PromptToolResult> returned = List.of();

  /// Adds new entries.
  void read(List<Entry> news) {
    news.forEach(this::read);
  }

  /// The messages and tool results since the task's own prompt, as parts of the next prompt.
  List<PromptPart> parts() {
    return List.copyOf(parts);
  }

  /// Messages to the task that no prompt has included yet.
  List<PromptPart> pendingMessages() {
    return List.copyOf(pendingMessages);
  }

  /// The calls of the unfinished turn, in their order; empty if there is no such turn.
  List<ToolCallHistory> calls() {
    return List.copyOf(calls.values());
  }

  /// The results of the previous turn's calls, if the next model call follows them.
  List<PromptPart.PromptToolResult> returned() {
    return returned;
  }

  /// True if a call of this task used this id.
  boolean used(ToolCallId call) {
    return used.contains(call);
  }

  /// True if the model has answered without calling a tool, and there is no newer message.
  boolean answered() {
    return answered && pendingMessages.isEmpty();
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
  @Nullable BlockId interruptedBlock() {
    return interruptedBlock;
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
          pendingMessages.add(new PromptPart.PromptMessage(Role.USER, message.content()));
      case InternalLlmCall call -> ask(call);
      case ContentComplete block -> end(block);
      case InternalCheckpoint checkpoint -> complete(checkpoint);
      case ThoughtStream thought -> thoughts = Math.max(thoughts, thought.index() + 1);
      case Usage usage -> tokens += usage.totalTokens();
      case ToolStart start ->
          find(start.toolCallId()).ifPresent(call -> call.begin(start, entry.timestamp()));
      case ToolProgress progress ->
          find(progress.toolCallId()).ifPresent(c -> addProgress(c, progress));
      case ToolComplete end -> end(end);
      case InputRequired asked ->
          asked.facts().toolCallId().flatMap(this::find).ifPresent(c -> c.ask(question(asked)));
      case InputReceived(var id, _, _, _, _, var value) ->
          answer(id.value(), ToolAnswer.of(value == null ? NullNode.instance : value));
      case InputLapsed(var id, var reason, _) -> answer(id.value(), lapsed(reason));
      case AuthRequired asked ->
          asked.facts().toolCallId().flatMap(this::find).ifPresent(c -> c.ask(question(asked)));
      case AuthCompleted(var id, _, _) ->
          answer(id.value(), new ToolAnswer.Given(BooleanNode.TRUE));
      case AuthLapsed(var id, var reason, _) -> answer(id.value(), lapsed(reason));
      case SubtaskCreated created -> spawn(created);
      case SubtaskComplete complete -> end(complete);
      case TaskStatus status when status.status() == TaskState.WAITING_INPUT ->
          status
              .facts()
              .askedOfParent()
              .flatMap(input -> callWithQuestion(input.value()))
              .ifPresent(ToolCallHistory::markConsulted);
      default -> {} // Does not affect the next step.
    }
  }

  private void ask(InternalLlmCall call) {
    attempts = asking && iteration == call.iteration() ? attempts + 1 : 1;
    iteration = call.iteration();
    asking = true;
    answered = false;
    parts.addAll(pendingMessages);
    pendingMessages.clear();
  }

  private void end(ContentComplete block) {
    if (Boolean.TRUE.equals(block.partial())) {
      interruptedBlock = block.blockId();
      return;
    }
    asking = false;
    interruptedBlock = null;
    returned = List.of();
    answers.add(block.content());
    var wanted = block.toolCalls();
    if (wanted == null || wanted.isEmpty()) {
      answered = true;
      parts.add(new PromptPart.PromptMessage(Role.ASSISTANT, block.content()));
      return;
    }
    parts.add(new PromptPart.PromptToolCalls(block.content(), wanted, null));
    for (var call : wanted) {
      used.add(call.id());
      calls.put(call.id(), new ToolCallHistory(call));
    }
  }

  /// Completes the calls of a turn: adds the memo and private arguments. The checkpoint directly
  /// follows the end of its turn, in the same append.
  private void complete(InternalCheckpoint checkpoint) {
    var state = checkpoint.state();
    if (state == null
        || parts.isEmpty()
        || !(parts.getLast() instanceof PromptPart.PromptToolCalls(var text, var wanted, _))) {
      return;
    }
    var complete = wanted.stream().map(call -> PrivateArguments.completeCall(call, state)).toList();
    for (var call : complete) {
      find(call.id()).ifPresent(history -> history.complete(call.arguments()));
    }
    parts.set(parts.size() - 1, new PromptPart.PromptToolCalls(text, complete, state.get(MEMO)));
  }

  private static void addProgress(ToolCallHistory call, ToolProgress progress) {
    call.progress(progress.progress());
    progress.facts().attempt().ifPresent(call::restart);
  }

  private void end(ToolComplete end) {
    find(end.toolCallId()).ifPresent(call -> call.end(end));
    if (!calls.isEmpty() && calls.values().stream().allMatch(call -> call.end().isPresent())) {
      var results =
          calls.values().stream().map(call -> returned(call.end().orElseThrow())).toList();
      parts.addAll(results);
      returned = results;
      failedTurns =
          results.stream().anyMatch(PromptPart.PromptToolResult::success) ? 0 : failedTurns + 1;
      calls.clear();
    }
  }

  private static PromptPart.PromptToolResult returned(ToolComplete end) {
    JsonNode result =
        end.success() && end.result() != null
            ? end.result()
            : StringNode.valueOf(end.error() == null ? "" : end.error());
    return new PromptPart.PromptToolResult(end.toolCallId(), end.toolName(), end.success(), result);
  }

  private Optional<ToolCallHistory> find(ToolCallId call) {
    return Optional.ofNullable(calls.get(call));
  }

  private static ToolCallQuestion question(InputRequired asked) {
    return new ToolCallQuestion(
        asked.inputId().value(),
        purpose(asked.facts()),
        false,
        Boolean.TRUE.equals(asked.requireUser()),
        false,
        null);
  }

  private static ToolCallQuestion question(AuthRequired asked) {
    return new ToolCallQuestion(
        asked.authId().value(), purpose(asked.facts()), true, true, false, null);
  }

  private static QuestionPurpose purpose(QuestionFacts question) {
    return question.purpose().orElse(QuestionPurpose.NEED);
  }

  private static ToolAnswer lapsed(@Nullable String reason) {
    return new ToolAnswer.Lapsed(reason == null ? "no answer" : reason);
  }

  private void answer(String id, ToolAnswer toolAnswer) {
    callWithQuestion(id).ifPresent(call -> call.answer(toolAnswer));
  }

  private Optional<ToolCallHistory> callWithQuestion(String id) {
    return calls.values().stream()
        .filter(
            call ->
                call.question()
                    .filter(toolCallQuestion -> toolCallQuestion.id().equals(id))
                    .isPresent())
        .findFirst();
  }

  private void spawn(SubtaskCreated created) {
    spawningCall(created.subtaskId())
        .ifPresent(call -> call.children().put(created.subtaskId(), Optional.empty()));
  }

  private void end(SubtaskComplete complete) {
    spawningCall(complete.subtaskId())
        .ifPresent(call -> call.children().put(complete.subtaskId(), Optional.of(complete)));
  }

  private Optional<ToolCallHistory> spawningCall(dev.parley.protocol.TaskId child) {
    return calls.values().stream()
        .filter(call -> call.subagents().filter(s -> s.taskIds().contains(child)).isPresent())
        .findFirst();
  }
}
