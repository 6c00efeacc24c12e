package dev.parley.door.agui;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.task.Submission;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A root task from its message to its end: one run, or several if it stops to ask. For one thread.
final class Turn {

  final TaskId root;
  final AgentTypeId agent;
  final TaskCreated created;
  final @Nullable Message message;
  final TaskTree tree = new TaskTree();
  final Scene scene = new Scene();

  /// Why tasks failed, as they said it.
  final Map<TaskId, ErrorReported> errors = new HashMap<>();

  /// Whose calls there are, and which messages have them.
  final Map<String, Scene.Holder> holders = new HashMap<>();

  /// The names of the calls that the application runs.
  final Map<String, String> clientCalls = new HashMap<>();

  /// Those of them whose results came with a message of the application.
  final Set<String> brought = new HashSet<>();

  /// The calls that hand all of the work to one agent, and so are not shown.
  final Set<String> handovers = new HashSet<>();

  Spent spent = new Spent();
  Phase phase = Phase.QUEUED;
  String runId;
  boolean spoke;
  boolean handsOver;
  private int runs;

  /// Where a turn stands.
  enum Phase {
    QUEUED,
    RUNNING,
    RESTING,
    ENDED
  }

  Turn(TaskId root, AgentTypeId agent, TaskCreated created, @Nullable Message message) {
    this.root = root;
    this.agent = agent;
    this.created = created;
    this.message = message;
    this.runId = root.value();
  }

  /// The next run begins, under the name that the application gave it, if it did.
  void begin(@Nullable String given) {
    runs++;
    phase = Phase.RUNNING;
    spent = new Spent();
    runId = given != null ? given : runs == 1 ? root.value() : root.value() + ":" + runs;
  }

  boolean first() {
    return runs == 1;
  }

  /// What the application calls the run, according to the metadata of a task, a message or an answer.
  static @Nullable String runId(@Nullable ObjectNode metadata) {
    var id = metadata == null ? "" : metadata.path(Submission.RUN_ID).asString("");
    return id.isEmpty() ? null : id;
  }
}
