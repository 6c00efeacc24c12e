package dev.parley.api.openai;

import dev.parley.projection.TaskTree;
import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.projection.UsageTotals;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Folds the entries of a root task into the events of one of its responses.
///
/// A response lasts until the task ends, or until the task and all its subtasks wait for a person
/// or for the client. After an answer, the next response begins. For one thread.
final class ResponseProjection {

  private final ContextId context;
  private final ResponseId wanted;
  private final TaskTree tree = new TaskTree();
  private final ResponseOutput output = new ResponseOutput();
  private final UsageTotals usage = new UsageTotals();
  private final Map<Id, ReceivedAnswer> received = new HashMap<>();
  private final Map<ToolCallId, ToolStart> starts = new HashMap<>();
  private final List<ObjectNode> inputItems = new ArrayList<>();
  private OpenAiFacts facts = OpenAiFacts.NONE;
  private @Nullable ResponseRecord response;
  private Position position = Position.START;
  private Phase phase = Phase.MISSING;
  private boolean delegatesAll;
  private int run;

  /// The phase of a root task.
  enum Phase {
    MISSING,
    QUEUED,
    RUNNING,
    PAUSED,
    ENDED
  }

  /// An answer that a task has received, and the number of the response that it began or continued.
  record ReceivedAnswer(@Nullable JsonNode value, int run) {}

  ResponseProjection(ContextId context, ResponseId wanted) {
    this.context = context;
    this.wanted = wanted;
  }

  ContextId context() {
    return context;
  }

  ResponseId id() {
    return wanted;
  }

  /// The position of the last applied entry.
  Position position() {
    return position;
  }

  Phase phase() {
    return phase;
  }

  /// The number of the latest response.
  int run() {
    return run;
  }

  /// True once the response has begun.
  boolean begun() {
    return response != null;
  }

  /// True once the response has ended.
  boolean ended() {
    return response != null && response.ended();
  }

  /// The response as it is now.
  ResponseRecord response() {
    if (response == null) {
      throw ResponseId.unknown(wanted.toString());
    }
    return response;
  }

  OpenAiFacts facts() {
    return facts;
  }

  List<OpenQuestion> questions() {
    return tree.openQuestions();
  }

  Optional<ReceivedAnswer> received(Id question) {
    return Optional.ofNullable(received.get(question));
  }

  /// The answers that began the response, as input items; empty for the first response of a task.
  List<ObjectNode> inputItems() {
    return List.copyOf(inputItems);
  }

  /// Applies an entry and returns the response's events, in order.
  List<ObjectNode> apply(Entry entry) {
    position = entry.position();
    var origin = entry.origin();
    if (origin == null && entry.event() instanceof Message message && message.facts().steers()) {
      tree.apply(entry);
    }
    if (origin == null || entry.event().internal() || !origin.rootTaskId().equals(wanted.root())) {
      return List.of();
    }
    if (phase == Phase.ENDED) {
      return List.of();
    }
    if (phase == Phase.PAUSED) {
      begin(entry);
    }
    tree.apply(entry);
    task(origin, entry);
    if (phase != Phase.QUEUED && phase != Phase.MISSING && isWanted()) {
      encode(origin, entry);
    }
    note(entry);
    end(origin, entry);
    return output.drain();
  }

  private boolean isWanted() {
    return run == wanted.run();
  }

  // --- where responses begin and end --------------------------------------------------------

  private void task(Origin origin, Entry entry) {
    var root = origin.taskId().equals(wanted.root());
    switch (entry.event()) {
      case TaskCreated created when root -> {
        facts = OpenAiFacts.of(created.facts());
        phase = Phase.QUEUED;
        begin(entry);
      }
      case TaskStatus(var status, _, _)
          when root && phase == Phase.QUEUED && status != TaskState.SUBMITTED -> {
        phase = Phase.RUNNING;
        if (isWanted()) {
          response().start();
          announce("response.in_progress");
        }
      }
      default -> {} // Other events do not begin a response.
    }
    if (entry.event() instanceof TaskStatus status && root) {
      status.facts().routing().ifPresent(routing -> delegatesAll |= routing.delegatesToOneAgent());
    }
  }

  private void begin(Entry entry) {
    run++;
    if (entry.event() instanceof InputReceived answer) {
      OpenAiFacts.of(answer.facts()).ifPresent(ours -> facts = ours);
    } else if (run > 1) {
      facts = facts.withPrevious(null);
    }
    if (run > 1) {
      phase = Phase.RUNNING;
      if (facts.previous() == null) {
        facts = facts.withPrevious(new ResponseId(wanted.root(), run - 1).toString());
      }
    }
    if (!isWanted()) {
      return;
    }
    response = new ResponseRecord(context, wanted, entry, facts, output, usage);
    announce("response.created");
    if (run > 1) {
      response.start();
      announce("response.in_progress");
    } else if (facts.background()) {
      announce("response.queued");
    }
  }

  private void announce(String type) {
    output.event(type).set("response", response().json());
  }

  private void note(Entry entry) {
    switch (entry.event()) {
      case InputReceived answer -> {
        received.put(answer.inputId(), new ReceivedAnswer(answer.value(), run));
        if (isWanted()) {
          OpenAiFacts.item(answer.facts()).ifPresent(inputItems::add);
        }
      }
      case InputLapsed lapsed -> received.put(lapsed.inputId(), new ReceivedAnswer(null, run));
      case ToolStart start -> starts.put(start.toolCallId(), start);
      default -> {} // Nothing else is needed later.
    }
  }

  private void end(Origin origin, Entry entry) {
    if (origin.taskId().equals(wanted.root())) {
      var state = TaskTree.endIn(entry.event()).orElse(null);
      if (state != null) {
        phase = Phase.ENDED;
        if (isWanted()) {
          close(state, entry);
        }
        return;
      }
    }
    if (phase == Phase.RUNNING && mayPause(entry) && tree.treeWaitsForPerson(wanted.root())) {
      phase = Phase.PAUSED;
      if (isWanted()) {
        output.close(true);
        QuestionForm.write(output, wanted.root(), tree.openQuestions(), facts.forms());
        response().complete(entry, null);
        announce(response().lastEvent());
      }
    }
  }

  private static boolean mayPause(Entry entry) {
    return entry.event() instanceof SubtaskComplete
        || (entry.event() instanceof TaskStatus(var status, _, _) && status.waiting());
  }

  private void close(TaskState state, Entry entry) {
    output.close(state == TaskState.COMPLETED);
    switch (state) {
      case COMPLETED ->
          response()
              .complete(
                  entry,
                  entry.event() instanceof TaskComplete complete
                      ? complete.facts().finishReason().orElse(null)
                      : null);
      case FAILED -> response().fail(entry, tree.error(wanted.root()).orElse(null));
      default -> response().cancel(entry);
    }
    announce(response().lastEvent());
  }

  // --- the output of the answering agent ----------------------------------------------------

  private void encode(Origin origin, Entry entry) {
    if (entry.event() instanceof Usage used) {
      usage.add(used);
      return;
    }
    if (!tree.isAnswer(origin)) {
      return;
    }
    switch (entry.event()) {
      case ContentDelta(var delta, _, var block) -> output.appendText(block(origin, block), delta);
      case ContentComplete complete -> content(origin, complete);
      case ThoughtStream thought ->
          output.appendReasoning(thought.thoughtId().value(), thought.content());
      case ToolEvent tool -> tool(origin, tool);
      case Message message -> {
        if (message.role() == Role.ASSISTANT && !output.hasText() && !message.content().isBlank()) {
          output.message(message.messageId().value(), message.content());
        }
      }
      default -> {} // Other events are not part of the output.
    }
  }

  /// The id of a block. Text without a block gets a block of its task.
  private static String block(Origin origin, @Nullable BlockId block) {
    return block == null ? origin.taskId() + ":text" : block.value();
  }

  private void content(Origin origin, ContentComplete complete) {
    output.endText(
        block(origin, complete.blockId()),
        complete.content(),
        !Boolean.TRUE.equals(complete.partial()));
    if (complete.replaces() != null) {
      output.replace(complete.replaces().value());
    }
  }

  private void tool(Origin origin, ToolEvent event) {
    if (delegatesAll && origin.taskId().equals(wanted.root())) {
      return;
    }
    var id = event.toolCallId().value();
    switch (event) {
      case ToolStart start -> {
        // The client runs it: it becomes a function call when the task waits for the result.
        if (!start.facts().runByClient() && !output.isOpenCall(id)) {
          output.startCall(id, start.toolName(), start.arguments().toString());
        }
      }
      case ToolProgress _ -> {} // The Responses API has no event for it.
      case ToolComplete complete -> end(id, complete);
    }
  }

  private void end(String id, ToolComplete complete) {
    var start = starts.get(complete.toolCallId());
    if (start != null && start.facts().runByClient()) {
      return;
    }
    if (!output.isOpenCall(id)) {
      output.startCall(
          id, complete.toolName(), start == null ? "{}" : start.arguments().toString());
    }
    var result = complete.result();
    var text = result == null ? "" : result.isString() ? result.asString() : result.toString();
    var error = complete.error();
    output.endCall(
        id,
        complete.success() ? text : null,
        complete.success() ? null : error == null ? "the call failed" : error);
  }
}
