package dev.parley.server;

import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.log.EventDraft;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.Time;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Counts tasks, tool calls, tokens and cost from appended events.
final class EventMetrics implements MeteredLog.AppendObserver {

  private static final int CALLS_MAX = 10_000;

  private final Metrics metrics;
  private final Time time;
  private final Map<ToolCallId, Long> calls = new ConcurrentHashMap<>();

  EventMetrics(Metrics metrics, Time time) {
    this.metrics = metrics;
    this.time = time;
  }

  @Override
  public void appended(ContextId context, List<EventDraft> drafts) {
    for (var eventDraft : drafts) {
      switch (eventDraft.event()) {
        case ToolStart start -> {
          if (calls.size() < CALLS_MAX) {
            calls.put(start.toolCallId(), time.nanos());
          }
        }
        case ToolComplete end -> ended(end);
        case Usage usage -> used(usage);
        case TaskCreated _ -> metrics.counter(Metric.TASKS_CREATED).increment();
        case TaskComplete _ -> ended(TaskState.COMPLETED, "");
        case TaskStatus(var state, _, _) when state == TaskState.FAILED ->
            ended(state, code(drafts));
        case TaskStatus(var state, _, _) when state == TaskState.CANCELED -> ended(state, "");
        default -> {} // Nothing else is counted.
      }
    }
  }

  private void ended(ToolComplete end) {
    metrics.counter(Metric.TOOL_CALLS, end.toolName(), end.success() ? "ok" : "failed").increment();
    var began = calls.remove(end.toolCallId());
    if (began != null) {
      metrics.histogram(Metric.TOOL_SECONDS, end.toolName()).record(time.nanos() - began);
    }
  }

  private void used(Usage usage) {
    var model = usage.model();
    metrics.counter(Metric.MODEL_TOKENS, model, "input").add(usage.inputTokens());
    metrics.counter(Metric.MODEL_TOKENS, model, "output").add(usage.outputTokens());
    if (usage.cacheCreationInputTokens() != null) {
      metrics
          .counter(Metric.MODEL_TOKENS, model, "cache_write")
          .add(usage.cacheCreationInputTokens());
    }
    if (usage.cacheReadInputTokens() != null) {
      metrics.counter(Metric.MODEL_TOKENS, model, "cache_read").add(usage.cacheReadInputTokens());
    }
    if (usage.costUsd() != null) {
      metrics.counter(Metric.MODEL_COST, model).add(usage.costUsd().doubleValue());
    }
  }

  private void ended(TaskState state, String code) {
    metrics.counter(Metric.TASKS_ENDED, state.wire(), code).increment();
  }

  /// Returns the code of the error that ended a task. It is appended together with the task's end.
  private static String code(List<EventDraft> drafts) {
    return drafts.stream()
        .map(EventDraft::event)
        .filter(event -> event instanceof ErrorReported error && error.scope() == ErrorScope.TASK)
        .map(event -> ((ErrorReported) event).code().wire())
        .reduce("", (_, last) -> last);
  }
}
