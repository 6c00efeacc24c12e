package dev.parley.agent;

import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The progress of a task: a fold of its entries, from which its agent continues after a wait or a
/// crash. This class has what all kinds of agent remember; each kind adds its own facts, most of
/// them from checkpoints.
///
/// Not thread-safe.
public class TaskHistory {

  /// A tool call that has started, and when.
  public record StartedCall(ToolStart start, Instant at) {}

  private final List<String> messages = new ArrayList<>();
  private final Map<ToolCallId, StartedCall> openCalls = new LinkedHashMap<>();
  private final Map<String, TaskQuestion> questions = new LinkedHashMap<>();
  private final Map<TaskId, Optional<SubtaskComplete>> subtasks = new LinkedHashMap<>();
  private @Nullable ContentComplete lastBlock;
  private @Nullable BlockId interruptedBlock;
  private int modelCalls;
  private int attempts;
  private int thoughts;
  private long tokens;

  /// Adds new entries of the task.
  public final void read(List<Entry> entries) {
    entries.forEach(entry -> apply(entry.event(), entry.timestamp()));
  }

  /// Adds an event of the task, or a message to it.
  public void apply(Event event, Instant at) {
    switch (event) {
      case Message message when message.role() == Role.USER -> messages.add(message.content());
      case InternalLlmCall call -> {
        modelCalls = Math.max(modelCalls, call.iteration());
        attempts++;
      }
      case ContentComplete block when Boolean.TRUE.equals(block.partial()) ->
          interruptedBlock = block.blockId();
      case ContentComplete block -> {
        lastBlock = block;
        interruptedBlock = null;
        attempts = 0;
      }
      case ThoughtStream thought -> thoughts = Math.max(thoughts, thought.index() + 1);
      case Usage usage -> tokens += usage.totalTokens();
      case ToolStart start -> openCalls.put(start.toolCallId(), new StartedCall(start, at));
      case ToolComplete end -> openCalls.remove(end.toolCallId());
      case SubtaskCreated created -> subtasks.put(created.subtaskId(), Optional.empty());
      case SubtaskComplete end -> subtasks.put(end.subtaskId(), Optional.of(end));
      case InputRequired _, AuthRequired _ ->
          TaskQuestion.of(event).ifPresent(asked -> questions.put(asked.id(), asked));
      case InputReceived _, InputLapsed _, AuthCompleted _, AuthLapsed _ ->
          TaskQuestion.endedBy(event)
              .ifPresent(id -> questions.computeIfPresent(id, (_, q) -> q.endedWith(event)));
      case TaskStatus status when status.status() == TaskState.WAITING_INPUT ->
          status
              .facts()
              .askedOfParent()
              .ifPresent(id -> questions.computeIfPresent(id.value(), (_, q) -> q.asConsulted()));
      default -> {} // Does not affect the next step of any agent.
    }
  }

  /// The messages to the task that its agent has not received.
  public final List<String> messages() {
    return List.copyOf(messages);
  }

  /// The same as one text.
  public final Optional<String> messageText() {
    return messages.isEmpty() ? Optional.empty() : Optional.of(String.join("\n\n", messages));
  }

  /// The agent has received the first `count` messages.
  protected final void removeMessages(int count) {
    messages.subList(0, Math.min(count, messages.size())).clear();
  }

  /// The calls that have not ended, in the order of their starts.
  public final Map<ToolCallId, StartedCall> openCalls() {
    return Collections.unmodifiableMap(openCalls);
  }

  /// The questions that the agent still needs to know, by their ids, oldest first.
  public final Map<String, TaskQuestion> questions() {
    return Collections.unmodifiableMap(questions);
  }

  /// The open questions, without sign-ins.
  public final List<InputId> openInputs() {
    return questions.values().stream()
        .filter(question -> question.open() && !question.signIn())
        .map(question -> new InputId(question.id()))
        .toList();
  }

  /// The agent no longer needs this question.
  protected final void forgetQuestion(String id) {
    questions.remove(id);
  }

  /// The agent no longer needs the questions that are not open.
  protected final void forgetEndedQuestions() {
    questions.values().removeIf(question -> !question.open());
  }

  /// The subtasks in the order of their creation, with the ends of those that have ended.
  public final Map<TaskId, Optional<SubtaskComplete>> subtasks() {
    return Collections.unmodifiableMap(subtasks);
  }

  /// The last complete block of text.
  public final Optional<ContentComplete> lastBlock() {
    return Optional.ofNullable(lastBlock);
  }

  /// The interrupted text that the next one replaces.
  public final @Nullable BlockId interruptedBlock() {
    return interruptedBlock;
  }

  /// The number of the last model call.
  public final int modelCalls() {
    return modelCalls;
  }

  /// How often a model was called since the last complete block of text.
  public final int attempts() {
    return attempts;
  }

  /// The number of thoughts.
  public final int thoughts() {
    return thoughts;
  }

  /// The number of tokens.
  public final long tokens() {
    return tokens;
  }
}
