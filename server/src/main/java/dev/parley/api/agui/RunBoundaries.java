package dev.parley.api.agui;

import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EmptyAnswer;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes where runs begin, pause and end.
final class RunBoundaries {

  /// In the result of a run whose answer ended early or is empty: the text.
  static final String RESULT_TEXT = "content";

  private static final String FINISH_REASON = "finishReason";

  private final ContextId thread;
  private final AgUiEventMapper mapper;

  RunBoundaries(ContextId thread, AgUiEventMapper agUiEventMapper) {
    this.thread = thread;
    this.mapper = agUiEventMapper;
  }

  /// Begins the first run of a root task. `rewound` is the rewind before it, if there was one.
  void begin(AgUiRunState agUiRunState, @Nullable ContextRewound rewound) {
    agUiRunState.startRun(agUiRunState.created.facts().runId().orElse(null));
    var message = agUiRunState.message;
    start(agUiRunState, message == null ? List.of() : List.of(ContentParts.message(message)));
    if (rewound != null) {
      var value = Json.object().put("toSeq", rewound.toSeq());
      agUiRunState.encoder.add(AgUiEvent.custom(null, "context-rewound", value));
    }
  }

  /// Begins another run of a root task, with these messages of the client.
  void resume(AgUiRunState agUiRunState, @Nullable String runId, List<ObjectNode> messages) {
    agUiRunState.startRun(runId);
    start(agUiRunState, messages);
    agUiRunState.encoder.resume();
  }

  private void start(AgUiRunState agUiRunState, List<ObjectNode> messages) {
    var started = AgUiEvent.RUN_STARTED.json().put("threadId", thread.value());
    started.put("runId", agUiRunState.runId).put("protocolVersion", AgUiVersion.newest().wire());
    if (agUiRunState.isFirstRun()) {
      agUiRunState
          .created
          .facts()
          .parentRunId()
          .ifPresent(parent -> started.put("parentRunId", parent));
    }
    if (!messages.isEmpty()) {
      var input = started.putObject("input").put("threadId", thread.value());
      input.put("runId", agUiRunState.runId);
      messages.forEach(input.putArray("messages")::add);
    }
    var about = started.putObject("metadata").putObject("parley");
    about.put("taskId", agUiRunState.root.value()).put("agentId", agUiRunState.agent.value());
    agUiRunState.encoder.add(started);
  }

  /// Ends a run because its task waits for a person or for the client. Returns the final event.
  ObjectNode pause(AgUiRunState agUiRunState) {
    var interrupts = new ArrayList<ObjectNode>();
    for (var agUiQuestion : agUiRunState.tree.openQuestions()) {
      if (!Interrupts.isToolCall(agUiQuestion)) {
        interrupts.add(
            Interrupts.of(thread, agUiQuestion, askingSubagent(agUiRunState, agUiQuestion)));
      }
    }
    if (interrupts.isEmpty()) {
      mapper.repeatPendingCalls(agUiRunState);
    }
    var pending = agUiRunState.encoder.unanswered();
    agUiRunState.encoder.suspend(task -> mapper.interruptsOf(agUiRunState, task));
    var outcome = Json.object().put("type", interrupts.isEmpty() ? "success" : "interrupt");
    if (!interrupts.isEmpty()) {
      interrupts.forEach(outcome.putArray("interrupts")::add);
    } else if (!pending.isEmpty()) {
      pending.forEach(outcome.putArray("pendingToolCallIds")::add);
    }
    agUiRunState.phase = AgUiRunState.RunPhase.PAUSED;
    return finish(agUiRunState, finished(agUiRunState, outcome));
  }

  private static @Nullable String askingSubagent(
      AgUiRunState agUiRunState, AgUiTaskTree.AgUiQuestion agUiQuestion) {
    var task = agUiQuestion.origin().taskId();
    return agUiRunState.encoder.isSubagent(task) ? task.value() : null;
  }

  /// Ends a run because its task has ended. Returns the final event.
  ///
  /// @param complete the last event of a completed task
  ObjectNode ended(AgUiRunState agUiRunState, TaskState state, @Nullable TaskComplete complete) {
    agUiRunState.encoder.close();
    agUiRunState.phase = AgUiRunState.RunPhase.ENDED;
    if (state == TaskState.FAILED) {
      var error = agUiRunState.errors.get(agUiRunState.root);
      var failed = AgUiEvent.RUN_ERROR.json();
      failed.put("message", error == null ? "the run failed" : error.message());
      failed.put("code", error == null ? "internal" : error.code().wire());
      return finish(agUiRunState, failed);
    }
    var success = state == TaskState.COMPLETED;
    var finished =
        finished(agUiRunState, Json.object().put("type", success ? "success" : "cancelled"));
    if (success && complete != null) {
      result(finished, complete);
    }
    return finish(agUiRunState, finished);
  }

  /// Adds the answer, the reason if it ended early, and whether it is empty.
  private static void result(ObjectNode finished, TaskComplete complete) {
    var content = complete.content();
    var reason = complete.facts().finishReason().orElse("");
    var empty = complete.facts().emptyAnswer();
    if (reason.isEmpty() && !empty) {
      if (content != null) {
        finished.put("result", content);
      }
      return;
    }
    var result = finished.putObject("result").put(RESULT_TEXT, content == null ? "" : content);
    if (!reason.isEmpty()) {
      result.put(FINISH_REASON, reason).put("truncated", reason.equals("length"));
    }
    if (empty) {
      EmptyAnswer.put(result);
    }
  }

  private ObjectNode finished(AgUiRunState agUiRunState, ObjectNode outcome) {
    var finished = AgUiEvent.RUN_FINISHED.json().put("threadId", thread.value());
    finished.put("runId", agUiRunState.runId).set("outcome", outcome);
    return finished;
  }

  private static ObjectNode finish(AgUiRunState agUiRunState, ObjectNode event) {
    if (!agUiRunState.usage.isEmpty()) {
      event.set("usage", agUiRunState.usage.json());
    }
    agUiRunState.encoder.add(event);
    return event;
  }
}
