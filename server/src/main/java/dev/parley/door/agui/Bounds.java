package dev.parley.door.agui;

import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes where runs begin, pause and end.
final class Bounds {

  /// In the result of a run whose answer ended early: the text.
  static final String RESULT_TEXT = "content";

  private static final String FINISH_REASON = "finishReason";

  private final ContextId thread;
  private final Deeds deeds;

  Bounds(ContextId thread, Deeds deeds) {
    this.thread = thread;
    this.deeds = deeds;
  }

  /// Begins the first run of a root task. `rewound` is the rewind before it, if there was one.
  void begin(Turn turn, @Nullable ContextRewound rewound) {
    turn.begin(Turn.runId(turn.created.metadata()));
    var message = turn.message;
    start(turn, message == null ? List.of() : List.of(ContentParts.message(message)));
    if (rewound != null) {
      var value = Json.object().put("toSeq", rewound.toSeq());
      turn.scene.add(AgUiEvent.custom(null, "context-rewound", value));
    }
  }

  /// Begins another run of a root task, with these messages of the client.
  void resume(Turn turn, @Nullable String runId, List<ObjectNode> messages) {
    turn.begin(runId);
    start(turn, messages);
    turn.scene.goOn();
  }

  private void start(Turn turn, List<ObjectNode> messages) {
    var started = AgUiEvent.RUN_STARTED.json().put("threadId", thread.value());
    started.put("runId", turn.runId).put("protocolVersion", ProtocolVersion.newest().wire());
    var metadata = turn.created.metadata();
    if (turn.first() && metadata != null && metadata.path("parentRunId").isString()) {
      started.set("parentRunId", metadata.get("parentRunId"));
    }
    if (!messages.isEmpty()) {
      var input = started.putObject("input").put("threadId", thread.value());
      input.put("runId", turn.runId);
      messages.forEach(input.putArray("messages")::add);
    }
    var about = started.putObject("metadata").putObject("parley");
    about.put("taskId", turn.root.value()).put("agentId", turn.agent.value());
    turn.scene.add(started);
  }

  /// Ends a run because its task waits for a person or for the client. Returns the final event.
  ObjectNode pause(Turn turn) {
    var interrupts = new ArrayList<ObjectNode>();
    for (var asked : turn.tree.asked()) {
      if (!Interrupts.isToolCall(asked)) {
        interrupts.add(Interrupts.of(thread, asked, asker(turn, asked)));
      }
    }
    if (interrupts.isEmpty()) {
      deeds.recall(turn);
    }
    var pending = turn.scene.unanswered();
    turn.scene.suspend(task -> deeds.asks(turn, task));
    var outcome = Json.object().put("type", interrupts.isEmpty() ? "success" : "interrupt");
    if (!interrupts.isEmpty()) {
      interrupts.forEach(outcome.putArray("interrupts")::add);
    } else if (!pending.isEmpty()) {
      pending.forEach(outcome.putArray("pendingToolCallIds")::add);
    }
    turn.phase = Turn.Phase.RESTING;
    return finish(turn, finished(turn, outcome));
  }

  private static @Nullable String asker(Turn turn, TaskTree.Asked asked) {
    var task = asked.origin().taskId();
    return turn.scene.isAgent(task) ? task.value() : null;
  }

  /// Ends a run because its task has ended. Returns the final event.
  ///
  /// @param complete the last event of a completed task
  ObjectNode ended(Turn turn, TaskState state, @Nullable TaskComplete complete) {
    turn.scene.close();
    turn.phase = Turn.Phase.ENDED;
    if (state == TaskState.FAILED) {
      var error = turn.errors.get(turn.root);
      var failed = AgUiEvent.RUN_ERROR.json();
      failed.put("message", error == null ? "the run failed" : error.message());
      failed.put("code", error == null ? "internal" : error.code().wire());
      return finish(turn, failed);
    }
    var success = state == TaskState.COMPLETED;
    var finished = finished(turn, Json.object().put("type", success ? "success" : "cancelled"));
    if (success && complete != null) {
      result(finished, complete);
    }
    return finish(turn, finished);
  }

  /// Adds the answer, and the reason if it ended early.
  private static void result(ObjectNode finished, TaskComplete complete) {
    var content = complete.content();
    var reason =
        complete.metadata() == null ? "" : complete.metadata().path(FINISH_REASON).asString("");
    if (!reason.isEmpty()) {
      var result = finished.putObject("result").put(RESULT_TEXT, content == null ? "" : content);
      result.put(FINISH_REASON, reason).put("truncated", reason.equals("length"));
    } else if (content != null) {
      finished.put("result", content);
    }
  }

  private ObjectNode finished(Turn turn, ObjectNode outcome) {
    var finished = AgUiEvent.RUN_FINISHED.json().put("threadId", thread.value());
    finished.put("runId", turn.runId).set("outcome", outcome);
    return finished;
  }

  private static ObjectNode finish(Turn turn, ObjectNode event) {
    if (!turn.spent.nothing()) {
      event.set("usage", turn.spent.json());
    }
    turn.scene.add(event);
    return event;
  }
}
