package dev.parley.agent;

import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.EmptyAnswer;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.TaskRun;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The results of the direct subtasks of a task that have ended, in the order in which they ended.
public final class SubtaskResults {

  private final TaskRun taskRun;
  private final Map<TaskId, Entry> ends = new LinkedHashMap<>();
  private final Map<TaskId, ErrorReported> errors = new HashMap<>();

  private SubtaskResults(TaskRun taskRun) {
    this.taskRun = taskRun;
  }

  /// Reads the results from the log.
  public static SubtaskResults of(TaskRun taskRun) {
    var results = new SubtaskResults(taskRun);
    for (var entry : taskRun.findEntries(entry -> isBelow(taskRun, entry) && isEnd(entry))) {
      var task = entry.taskId();
      if (task != null && entry.event() instanceof ErrorReported error) {
        results.errors.putIfAbsent(task, error);
      } else if (task != null) {
        results.ends.put(task, entry);
      }
    }
    return results;
  }

  private static boolean isBelow(TaskRun taskRun, Entry entry) {
    return entry.origin() != null
        && taskRun.origin().taskId().equals(entry.origin().parentTaskId());
  }

  private static boolean isEnd(Entry entry) {
    return switch (entry.event()) {
      case TaskComplete _ -> true;
      case TaskStatus status ->
          status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED;
      case ErrorReported error -> error.scope() == ErrorScope.TASK;
      // Most events are not about a task's end.
      default -> false;
    };
  }

  /// All results: `taskId`, `agentId`, `status` (`success`, `failure`, `cancelled`, `timeout`),
  /// `output`, `error`, `artifacts`, `usage`, `modelUsage`, `costUsd`, `duration`, `numTurns`,
  /// `metadata`.
  public List<ObjectNode> list() {
    return ends.entrySet().stream().map(end -> result(end.getKey(), end.getValue())).toList();
  }

  /// The results of these tasks, in their order.
  public List<ObjectNode> list(List<TaskId> tasks) {
    return tasks.stream()
        .flatMap(task -> Stream.ofNullable(ends.get(task)).map(end -> result(task, end)))
        .toList();
  }

  /// The answer of the first task that succeeded.
  public Optional<String> answer() {
    return completed().map(TaskComplete::content).filter(text -> text != null).findFirst();
  }

  /// Why an answer is incomplete: the reason of the first task whose answer is.
  public Optional<EarlyEnd> earlyEnd() {
    return completed().flatMap(end -> end.facts().earlyEnd().stream()).findFirst();
  }

  /// Why the answer of this task is incomplete; empty if it is complete, or the task failed.
  public Optional<EarlyEnd> earlyEnd(TaskId task) {
    return Optional.ofNullable(ends.get(task))
        .filter(end -> end.event() instanceof TaskComplete)
        .flatMap(end -> ((TaskComplete) end.event()).facts().earlyEnd());
  }

  /// The error of the first task that failed.
  public Optional<ErrorReported> error() {
    return ends.keySet().stream().flatMap(task -> Stream.ofNullable(errors.get(task))).findFirst();
  }

  private Stream<TaskComplete> completed() {
    return ends.values().stream()
        .map(Entry::event)
        .filter(TaskComplete.class::isInstance)
        .map(TaskComplete.class::cast);
  }

  private ObjectNode result(TaskId task, Entry end) {
    var json = Json.object().put("taskId", task.value());
    if (end.origin() != null) {
      json.put("agentId", end.origin().agentId().value());
    }
    switch (end.event()) {
      case TaskComplete complete -> {
        var content = complete.content();
        var artifacts = complete.artifacts();
        var metadata = complete.metadata();
        json.put("status", "success").put("output", content == null ? "" : content);
        if (artifacts != null) {
          var list = json.putArray("artifacts");
          artifacts.forEach(artifact -> list.add(artifact.value()));
        }
        copy(metadata == null ? taskRun.subtaskTotals(task) : metadata, json);
        var marks = marks(complete.facts());
        if (!marks.isEmpty()) {
          json.set("metadata", marks);
        }
      }
      case TaskStatus status -> {
        var error = errors.get(task);
        json.put("status", status(status, error)).put("output", "");
        json.put("error", error == null ? reason(status) : error.message());
        copy(taskRun.subtaskTotals(task), json);
      }
      default -> throw new IllegalStateException("not an end: " + end);
    }
    return json;
  }

  private static ObjectNode marks(TaskEndFacts facts) {
    var marks = Json.object();
    facts.earlyEnd().ifPresent(early -> early.put(marks));
    if (facts.emptyAnswer()) {
      EmptyAnswer.put(marks);
    }
    return marks;
  }

  private static String status(TaskStatus status, @Nullable ErrorReported error) {
    if (status.status() == TaskState.CANCELED) {
      return "cancelled";
    }
    return error != null && error.code() == ErrorCode.TIMEOUT ? "timeout" : "failure";
  }

  private static String reason(TaskStatus status) {
    return status.facts().reason().orElse(status.status().wire());
  }

  private static void copy(ObjectNode figures, ObjectNode result) {
    for (var name : List.of("usage", "modelUsage", "costUsd", "duration")) {
      if (figures.has(name)) {
        result.set(name, figures.get(name));
      }
    }
    result.put("numTurns", figures.path("iterations").asInt());
  }
}
