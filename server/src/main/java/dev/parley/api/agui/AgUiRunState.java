package dev.parley.api.agui;

import dev.parley.projection.TaskTree;
import dev.parley.projection.UsageTotals;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The state of a root task from its message to its end: one run, or several if it pauses to ask.
/// For one thread.
final class AgUiRunState {

  final TaskId root;
  final AgentTypeId agent;
  final TaskCreated created;
  final @Nullable Message message;
  final TaskTree tree = new TaskTree();
  final AgUiRunEncoder encoder = new AgUiRunEncoder();

  /// The sub-agent and message of each tool call.
  final Map<String, AgUiRunEncoder.CallParent> callParents = new HashMap<>();

  /// The tool names of calls that the client runs, by call id.
  final Map<String, String> clientCalls = new HashMap<>();

  /// The client calls whose results came with a message.
  final Set<String> clientResults = new HashSet<>();

  /// The calls that delegate all work to one agent; they are not shown.
  final Set<String> handoverCalls = new HashSet<>();

  UsageTotals usage = new UsageTotals();
  RunPhase phase = RunPhase.QUEUED;
  String runId;
  boolean hasText;
  boolean delegatesAll;
  private int runs;

  /// The phase of a root task.
  enum RunPhase {
    QUEUED,
    RUNNING,
    PAUSED,
    ENDED
  }

  AgUiRunState(TaskId root, AgentTypeId agent, TaskCreated created, @Nullable Message message) {
    this.root = root;
    this.agent = agent;
    this.created = created;
    this.message = message;
    this.runId = root.value();
  }

  /// Begins the next run. `given` is its id if the client chose one.
  void startRun(@Nullable String given) {
    runs++;
    phase = RunPhase.RUNNING;
    usage = new UsageTotals();
    runId = given != null ? given : runs == 1 ? root.value() : root.value() + ":" + runs;
  }

  boolean isFirstRun() {
    return runs == 1;
  }
}
