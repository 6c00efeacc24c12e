package dev.parley.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.LogInvariants;
import dev.parley.task.TaskTestBed;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/// Open tasks of the former supervisor, which was a model loop with a model of its own.
@Timeout(60)
class FormerSupervisorTest {

  private static final TaskId ROOT = new TaskId("root");
  private static final Origin ORIGIN = Origin.root(ROOT, TaskTestBed.AGENT);
  private static final ToolCallId CALL = new ToolCallId("call");

  /// The number of appends until the decision is in the log.
  private static final int DECIDED = 3;

  private static final InvocationId INVOCATION = new InvocationId("invocation");

  @TempDir Path folder;

  private final SupervisorTestBed supervisorTestBed = new SupervisorTestBed();

  @ParameterizedTest
  @ValueSource(strings = {"single", "parallel", "sequential"})
  void a_task_continues_from_every_append_after_its_decision(String strategy) throws Exception {
    var agents = strategy.equals("single") ? List.of("a") : List.of("a", "b");
    var appends = appends(strategy, agents);
    for (var count = DECIDED; count <= appends.size(); count++) {
      var log = TaskTestBed.newLog();
      try (var taskTestBed = supervisorTestBed.world(log, folder, false)) {
        append(log, appends.subList(0, count));
        taskTestBed.tasks().recover();

        assertThat(taskTestBed.awaitEnd(ROOT)).as("after %d", count).isEqualTo(TaskState.COMPLETED);
        assertThat(taskTestBed.answer(ROOT).content())
            .as("after %d", count)
            .isEqualTo(agents.size() == 1 ? "I am a" : "## Alice\n\nI am a\n\n## Bob\n\nI am b");
        if (agents.size() > 1 || count > DECIDED + 1) {
          LogInvariants.check(log, TaskTestBed.CONTEXT);
        }
        assertThat(taskTestBed.events(ROOT, SubtaskCreated.class)).hasSize(agents.size());
      }
    }
  }

  private static void append(EventLog log, List<List<EventDraft>> appends) {
    for (var drafts : appends) {
      log.append(TaskTestBed.CONTEXT, AppendGuard.none(), _ -> drafts);
    }
  }

  /// What the former supervisor appended, until all subtasks have ended.
  private static List<List<EventDraft>> appends(String strategy, List<String> agents) {
    var ids = agents.stream().map(TaskId::new).toList();
    var serial = strategy.equals("sequential");
    var metadata = new SubagentMetadata(ids, ids.size(), serial ? Mode.SERIAL : Mode.PARALLEL);
    var arguments = arguments(agents, metadata.mode());
    var appends = new ArrayList<List<EventDraft>>();
    appends.add(List.of(root(created())));
    appends.add(List.of(root(new TaskStatus(TaskState.WORKING, null, null))));
    appends.add(
        List.of(root(new TaskStatus(TaskState.WORKING, strategy, routing(strategy, agents)))));
    appends.add(
        List.of(
            root(new InternalLlmCall(1, "rules", 1, 1)),
            root(
                new ContentComplete(
                    "",
                    new BlockId("block"),
                    FinishReason.TOOL_CALLS,
                    null,
                    null,
                    List.of(new ToolCall(CALL, "subagents", arguments)))),
            root(new InternalCheckpoint(1, null))));
    var spawn = new ArrayList<EventDraft>();
    spawn.add(
        root(
            new ToolStart(
                CALL,
                "subagents",
                arguments,
                Json.object().put("invocationId", INVOCATION.value()),
                1,
                "key",
                null,
                metadata)));
    ids.subList(0, serial ? 1 : ids.size()).forEach(id -> spawn.addAll(child(id)));
    appends.add(spawn);
    appends.add(
        List.of(
            root(
                new TaskStatus(
                    TaskState.WAITING_SUBTASK, null, StatusFacts.ofWaitingForSubtasks(ids)))));
    for (var id : ids) {
      var end = new ArrayList<EventDraft>();
      if (serial && !id.equals(ids.getFirst())) {
        end.add(root(new TaskStatus(TaskState.WORKING, null, null)));
        end.addAll(child(id));
      }
      end.addAll(end(id));
      appends.add(end);
    }
    appends.add(
        List.of(
            root(new TaskStatus(TaskState.WORKING, null, null)),
            root(
                new ToolComplete(
                    CALL, "subagents", true, Json.object(), null, null, null, metadata)),
            root(new InternalLlmCall(2, "rules", 3, 1))));
    return appends;
  }

  private static TaskCreated created() {
    return new TaskCreated(Initiator.USER, null, null, "do it", null, null, null, null);
  }

  private static ObjectNode routing(String strategy, List<String> agents) {
    var routing = Json.object().put("strategy", strategy).put("reasoning", "").put("confidence", 1);
    var list = routing.putArray("agents");
    for (var agent : agents) {
      list.addObject()
          .put("agentId", agent)
          .put("agentName", agent.equals("a") ? "Alice" : "Bob")
          .put("taskDescription", "do it")
          .put("priority", 1);
    }
    var metadata = Json.object();
    metadata.set("routing", routing);
    return metadata;
  }

  private static ObjectNode arguments(List<String> agents, Mode mode) {
    var arguments = Json.object().put("mode", mode.wire());
    var tasks = arguments.putArray("tasks");
    agents.forEach(agent -> tasks.addObject().put("agentId", agent).put("prompt", "do it"));
    return arguments;
  }

  private static EventDraft root(dev.parley.protocol.Event event) {
    return new EventDraft(ORIGIN, event);
  }

  private static List<EventDraft> child(TaskId id) {
    var agent = new AgentTypeId(id.value());
    return List.of(
        root(new SubtaskCreated(id, agent, "do it")),
        new EventDraft(
            origin(id),
            new TaskCreated(Initiator.AGENT, null, null, "do it", null, null, null, null)));
  }

  private static List<EventDraft> end(TaskId id) {
    var text = "I am " + id;
    return List.of(
        new EventDraft(origin(id), new TaskStatus(TaskState.WORKING, null, null)),
        new EventDraft(origin(id), new TaskStatus(TaskState.COMPLETED, null, null)),
        new EventDraft(origin(id), new TaskComplete(text, null, null)),
        root(new SubtaskComplete(id, TaskState.COMPLETED, text, null)));
  }

  private static Origin origin(TaskId id) {
    return new Origin(
        id, ROOT, ROOT, new AgentTypeId(id.value()), AgentLevel.SUBAGENT, INVOCATION, CALL, null);
  }
}
