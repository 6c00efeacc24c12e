package dev.parley.agent;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.TextOrigin;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/// The progress of a task of the model loop. Not thread-safe.
final class ModelTaskHistory extends TaskHistory {

  /// In the state of a checkpoint: data that only the model provider interprets.
  static final String MEMO = "memo";

  private final List<PromptPart> parts = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private final Map<ToolCallId, ToolCallHistory> calls = new LinkedHashMap<>();
  private final Set<ToolCallId> used = new HashSet<>();
  private final boolean marksOrigins;
  private boolean answered;
  private int failedTurns;
  private List<PromptPart.PromptToolResult> returned = List.of();

  /// With `marksOrigins`, results of tools that nobody vouches for name their source.
  ModelTaskHistory(boolean marksOrigins) {
    this.marksOrigins = marksOrigins;
  }

  /// The messages and tool results since the task's own prompt, as parts of the next prompt.
  List<PromptPart> parts() {
    return Stream.concat(parts.stream(), pendingMessages()).toList();
  }

  /// Messages to the task that no prompt has included yet.
  private Stream<PromptPart> pendingMessages() {
    return messages().stream().map(text -> new PromptPart.PromptMessage(Role.USER, text));
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
    return answered && messages().isEmpty();
  }

  /// All text of the model's answers.
  String answer() {
    return answers.stream().filter(text -> !text.isBlank()).collect(Collectors.joining("\n\n"));
  }

  /// The number of the next model call; unchanged if the last one was interrupted.
  int nextIteration() {
    return attempts() > 0 ? modelCalls() : modelCalls() + 1;
  }

  /// The number of consecutive turns in which every tool failed.
  int failedTurns() {
    return failedTurns;
  }

  @Override
  public void apply(Event event, Instant at) {
    super.apply(event, at);
    switch (event) {
      case InternalLlmCall _ -> {
        answered = false;
        pendingMessages().forEach(parts::add);
        removeMessages(messages().size());
      }
      case ContentComplete block when !Boolean.TRUE.equals(block.partial()) -> end(block);
      case InternalCheckpoint checkpoint -> complete(checkpoint);
      case ToolStart start -> find(start.toolCallId()).ifPresent(call -> call.begin(start, at));
      case ToolProgress progress ->
          find(progress.toolCallId()).ifPresent(call -> addProgress(call, progress));
      case ToolComplete end -> end(end);
      case InputRequired asked -> ask(asked.inputId().value());
      case AuthRequired asked -> ask(asked.authId().value());
      default -> {} // Does not affect the next step.
    }
  }

  private void ask(String id) {
    var asked = questions().get(id);
    if (asked != null) {
      asked.facts().toolCallId().flatMap(this::find).ifPresent(call -> call.ask(asked));
    }
  }

  private void end(ContentComplete block) {
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
      calls.put(call.id(), new ToolCallHistory(call, this));
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
      forgetEndedQuestions();
    }
  }

  private PromptPart.PromptToolResult returned(ToolComplete end) {
    JsonNode result =
        end.success() && end.result() != null
            ? end.result()
            : StringNode.valueOf(end.error() == null ? "" : end.error());
    var origin = marksOrigins ? end.facts().origin() : Optional.<TextOrigin>empty();
    var told =
        origin
            .<JsonNode>map(
                from ->
                    StringNode.valueOf(
                        UntrustedPolicy.marked(
                            from, result.isString() ? result.asString() : result.toString())))
            .orElse(result);
    return new PromptPart.PromptToolResult(end.toolCallId(), end.toolName(), end.success(), told);
  }

  private Optional<ToolCallHistory> find(ToolCallId call) {
    return Optional.ofNullable(calls.get(call));
  }
}
