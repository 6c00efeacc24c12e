package dev.parley.api.agui;

import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EmptyAnswer;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.Usage;
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

  RunBoundaries(ContextId thread, AgUiEventMapper mapper) {
    this.thread = thread;
    this.mapper = mapper;
  }

  /// Begins the first run of a root task. `rewound` is the rewind before it, if there was one.
  void begin(AgUiRunState run, @Nullable ContextRewound rewound) {
    run.startRun(run.created.facts().runId().orElse(null));
    var message = run.message;
    start(run, message == null ? List.of() : List.of(ContentParts.message(message)));
    if (rewound != null) {
      var value = Json.object().put("toSeq", rewound.toSeq());
      run.encoder.add(AgUiEvent.custom(null, "context-rewound", value));
    }
  }

  /// Begins another run of a root task, with these messages of the client.
  void resume(AgUiRunState run, @Nullable String runId, List<ObjectNode> messages) {
    run.startRun(runId);
    start(run, messages);
    run.encoder.resume();
  }

  private void start(AgUiRunState run, List<ObjectNode> messages) {
    var started = AgUiEvent.RUN_STARTED.json().put("threadId", thread.value());
    started.put("runId", run.runId).put("protocolVersion", AgUiVersion.newest().wire());
    if (run.isFirstRun()) {
      run.created.facts().parentRunId().ifPresent(parent -> started.put("parentRunId", parent));
    }
    if (!messages.isEmpty()) {
      var input = started.putObject("input").put("threadId", thread.value());
      input.put("runId", run.runId);
      messages.forEach(input.putArray("messages")::add);
    }
    var about = started.putObject("metadata").putObject("parley");
    about.put("taskId", run.root.value()).put("agentId", run.agent.value());
    run.encoder.add(started);
  }

  /// Ends a run because its task waits for a person or for the client. Returns the final event.
  ObjectNode pause(AgUiRunState run) {
    var interrupts = new ArrayList<ObjectNode>();
    for (var question : run.tree.openQuestions()) {
      if (!Interrupts.isToolCall(question)) {
        interrupts.add(Interrupts.of(thread, question, askingSubagent(run, question)));
      }
    }
    if (interrupts.isEmpty()) {
      mapper.repeatPendingCalls(run);
    }
    var pending = run.encoder.unanswered();
    run.encoder.suspend(task -> mapper.interruptsOf(run, task));
    var outcome = Json.object().put("type", interrupts.isEmpty() ? "success" : "interrupt");
    if (!interrupts.isEmpty()) {
      interrupts.forEach(outcome.putArray("interrupts")::add);
    } else if (!pending.isEmpty()) {
      pending.forEach(outcome.putArray("pendingToolCallIds")::add);
    }
    run.phase = AgUiRunState.RunPhase.PAUSED;
    return finish(run, finished(run, outcome));
  }

  private static @Nullable String askingSubagent(AgUiRunState run, OpenQuestion question) {
    var task = question.origin().taskId();
    return run.encoder.isSubagent(task) ? task.value() : null;
  }

  /// Ends a run because its task has ended. Returns the final event.
  ///
  /// @param complete the last event of a completed task
  ObjectNode ended(AgUiRunState run, TaskState state, @Nullable TaskComplete complete) {
    run.encoder.close();
    run.phase = AgUiRunState.RunPhase.ENDED;
    if (state == TaskState.FAILED) {
      var error = run.tree.error(run.root).orElse(null);
      var failed = AgUiEvent.RUN_ERROR.json();
      failed.put("message", error == null ? "the run failed" : error.message());
      failed.put("code", error == null ? "internal" : error.code().wire());
      return finish(run, failed);
    }
    var success = state == TaskState.COMPLETED;
    var finished = finished(run, Json.object().put("type", success ? "success" : "cancelled"));
    if (success && complete != null) {
      result(finished, complete);
    }
    return finish(run, finished);
  }

  /// Adds the answer, the reason if it ended early, and whether it is empty.
  private static void result(ObjectNode finished, TaskComplete complete) {
    var content = complete.content();
    var reason = complete.facts().finishReason().orElse("");
    var empty = complete.facts().emptyAnswer();
    if (reason.isEmpty() && !empty) {
      Json.putPresent(finished, "result", content);
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

  /// The usage of one model in a run. Cached tokens are part of the input tokens.
  private record RunUsage(
      String model,
      long inputTokens,
      long outputTokens,
      long totalTokens,
      @Nullable Long cachedInputTokens,
      @Nullable Long cacheWriteInputTokens) {

    static ObjectNode json(Usage usage) {
      return Json.mapper()
          .valueToTree(
              new RunUsage(
                  usage.model(),
                  usage.allInputTokens(),
                  usage.outputTokens(),
                  usage.totalTokens(),
                  positive(usage.cacheReadInputTokens()),
                  positive(usage.cacheCreationInputTokens())));
    }

    private static @Nullable Long positive(@Nullable Long count) {
      return count == null || count == 0 ? null : count;
    }
  }

  private ObjectNode finished(AgUiRunState run, ObjectNode outcome) {
    var finished = AgUiEvent.RUN_FINISHED.json().put("threadId", thread.value());
    finished.put("runId", run.runId).set("outcome", outcome);
    return finished;
  }

  private static ObjectNode finish(AgUiRunState run, ObjectNode event) {
    var used = run.usage.byModel().values();
    used.stream()
        .filter(usage -> usage.totalTokens() > 0)
        .forEach(usage -> event.withArray("/usage").add(RunUsage.json(usage)));
    run.encoder.add(event);
    return event;
  }
}
