package dev.parley.protocol;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Creates random conversations in which tasks spawn nested sub-agents, as a server would write
/// them: in batches, in parallel or in sequence, interleaved at random. The same seed gives the
/// same conversation. For one thread.
public final class RandomTaskTrees {

  /// Maximum depth of a tree, including its root.
  public static final int DEPTH_MAX = 6;

  private static final int TASKS_MAX = 40;
  private static final ContextId CONTEXT = new ContextId("c");
  private static final Instant EPOCH = Instant.parse("2026-11-15T10:30:00Z");

  private final Random random;
  private int ids;
  private int tasks;

  public RandomTaskTrees(long seed) {
    random = new Random(seed);
  }

  private record Draft(@Nullable Origin origin, Event event) {}

  /// All entries of a context with one to three trees.
  public List<Entry> entries() {
    var drafts = new ArrayList<Draft>();
    drafts.add(new Draft(null, new ContextCreated("local", null, null)));
    for (var i = random.nextInt(3); i >= 0; i--) {
      var message = new MessageId(id("m"));
      drafts.add(new Draft(null, new Message(message, Role.USER, "work", null, null)));
      drafts.addAll(
          run(
              Origin.root(new TaskId(id("t")), new AgentTypeId("lead")),
              1 + random.nextInt(DEPTH_MAX)));
    }
    return numbered(drafts);
  }

  private List<Draft> run(Origin origin, int depth) {
    tasks++;
    var drafts = new ArrayList<Draft>();
    var initiator = origin.parentTaskId() == null ? Initiator.USER : Initiator.AGENT;
    add(
        drafts,
        origin,
        new TaskCreated(initiator, null, null, "do it", null, null, null, null),
        new TaskStatus(TaskState.WORKING, null, null));
    for (var turn = 1; turn <= 1 + random.nextInt(3); turn++) {
      add(drafts, origin, new InternalLlmCall(turn, "m", turn, 1));
      drafts.addAll(speak(origin));
      add(
          drafts,
          origin,
          new Usage("m", random.nextInt(100), random.nextInt(100), null, null, null));
      if (depth > 1 && tasks < TASKS_MAX && random.nextInt(3) > 0) {
        drafts.addAll(batch(origin, depth));
      } else if (random.nextBoolean()) {
        drafts.addAll(call(origin));
      }
    }
    drafts.addAll(end(origin));
    return drafts;
  }

  private List<Draft> speak(Origin origin) {
    var drafts = new ArrayList<Draft>();
    var block = new BlockId(id("b"));
    var text = new StringBuilder();
    for (var index = 0; index <= random.nextInt(3); index++) {
      var piece = origin.taskId() + "/" + index + " ";
      text.append(piece);
      add(drafts, origin, new ContentDelta(piece, index, block));
    }
    add(
        drafts,
        origin,
        new ContentComplete(text.toString(), block, FinishReason.STOP, null, null, null));
    return drafts;
  }

  private List<Draft> call(Origin origin) {
    var drafts = new ArrayList<Draft>();
    var call = new ToolCallId(id("call"));
    add(
        drafts,
        origin,
        new ToolStart(call, "calculator", Json.object(), null, 1, null, null, null),
        new ToolComplete(call, "calculator", true, null, null, null, null, null));
    return drafts;
  }

  private List<Draft> batch(Origin parent, int depth) {
    var drafts = new ArrayList<Draft>();
    var call = new ToolCallId(id("call"));
    var invocation = new InvocationId(id("inv"));
    var mode = random.nextBoolean() ? Mode.PARALLEL : Mode.SERIAL;
    var tasks =
        IntStream.rangeClosed(0, random.nextInt(3)).mapToObj(_ -> new TaskId(id("t"))).toList();
    var metadata = new SubagentMetadata(tasks, tasks.size(), mode);
    add(
        drafts,
        parent,
        new ToolStart(call, "subagents", Json.object(), null, 1, null, null, metadata),
        new TaskStatus(TaskState.WAITING_SUBTASK, null, null));
    var children =
        tasks.stream().map(task -> child(parent, task, call, invocation, depth - 1)).toList();
    if (mode == Mode.PARALLEL) {
      drafts.addAll(mixed(children));
    } else {
      children.forEach(drafts::addAll);
    }
    add(
        drafts,
        parent,
        new TaskStatus(TaskState.WORKING, null, null),
        new ToolComplete(call, "subagents", true, null, null, null, null, metadata));
    return drafts;
  }

  private List<Draft> child(
      Origin parent, TaskId task, ToolCallId call, InvocationId invocation, int depth) {
    var agent = new AgentTypeId("worker");
    var origin =
        new Origin(
            task,
            parent.taskId(),
            parent.rootTaskId(),
            agent,
            AgentLevel.SUBAGENT,
            invocation,
            call,
            null);
    var drafts = new ArrayList<Draft>();
    add(drafts, parent, new SubtaskCreated(task, agent, "do it"));
    drafts.addAll(run(origin, depth));
    var failed = drafts.getLast().event() instanceof TaskStatus;
    var state = failed ? TaskState.FAILED : TaskState.COMPLETED;
    add(drafts, parent, new SubtaskComplete(task, state, null, failed ? "it broke" : null));
    return drafts;
  }

  private List<Draft> end(Origin origin) {
    var drafts = new ArrayList<Draft>();
    if (random.nextInt(5) == 0) {
      add(
          drafts,
          origin,
          new ErrorReported(ErrorCode.MODEL_ERROR, "it broke", false, ErrorScope.TASK, null),
          new TaskStatus(TaskState.FAILED, null, null));
    } else {
      add(
          drafts,
          origin,
          new TaskStatus(TaskState.COMPLETED, null, null),
          new TaskComplete("done", null, null));
    }
    return drafts;
  }

  /// Interleaves all lists; each keeps its own order.
  private List<Draft> mixed(List<List<Draft>> lists) {
    var left = new ArrayList<Deque<Draft>>();
    lists.forEach(list -> left.add(new ArrayDeque<>(list)));
    var all = new ArrayList<Draft>();
    while (!left.isEmpty()) {
      var one = left.get(random.nextInt(left.size()));
      all.add(one.remove());
      left.removeIf(Deque::isEmpty);
    }
    return all;
  }

  private static List<Entry> numbered(List<Draft> drafts) {
    var entries = new ArrayList<Entry>();
    var position = Position.START;
    for (var draft : drafts) {
      position = draft.event().internal() ? position.nextInternal() : position.nextPublic();
      entries.add(
          new Entry(
              CONTEXT,
              position,
              new UUID(position.seq(), position.k()),
              EPOCH.plusMillis(position.seq()),
              draft.origin(),
              draft.event()));
    }
    return entries;
  }

  private static void add(List<Draft> drafts, Origin origin, Event... events) {
    for (var event : events) {
      drafts.add(new Draft(origin, event));
    }
  }

  private String id(String prefix) {
    return prefix + ++ids;
  }
}
