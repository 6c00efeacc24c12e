package dev.parley.supervisor;

import dev.parley.model.Reply;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.task.Strategy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// What the agents below a supervisor came to, one result each.
final class Results {

  private Results() {}

  /// The supervisor's own end: for one agent its words, else what was made of all; and each result.
  static Outcome of(Run run, Routing routing, Outcome.Completed completed) {
    var ends = ends(run);
    var about = Json.object();
    about.set(Supervisor.ROUTING, routing.json());
    var results = about.putArray("results");
    ends.forEach((task, entry) -> results.add(result(task, entry, errorOf(run, task))));
    var one = routing.strategy() == Strategy.SINGLE || routing.strategy() == Strategy.DELEGATE;
    var content = one ? words(ends) : completed.content();
    return new Outcome.Completed(content, about);
  }

  private static String words(Map<TaskId, Entry> ends) {
    return ends.values().stream()
        .map(Entry::event)
        .filter(TaskComplete.class::isInstance)
        .map(event -> ((TaskComplete) event).content())
        .findFirst()
        .orElse("");
  }

  /// Why the work failed, if an agent said why.
  static Optional<Reply> failure(Run run) {
    return ends(run).keySet().stream()
        .flatMap(task -> errorOf(run, task).stream())
        .findFirst()
        .map(error -> new Reply.Failed(error.code(), error.message(), error.retryable()));
  }

  /// The last event of each task right below.
  private static Map<TaskId, Entry> ends(Run run) {
    var ends = new LinkedHashMap<TaskId, Entry>();
    for (var entry : run.look(entry -> below(run, entry) && isEnd(entry))) {
      if (entry.taskId() != null) {
        ends.put(entry.taskId(), entry);
      }
    }
    return ends;
  }

  private static boolean below(Run run, Entry entry) {
    return entry.origin() != null && run.origin().taskId().equals(entry.origin().parentTaskId());
  }

  private static boolean isEnd(Entry entry) {
    return entry.event() instanceof TaskComplete
        || (entry.event() instanceof TaskStatus status
            && (status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED));
  }

  private static Optional<ErrorReported> errorOf(Run run, TaskId task) {
    return run.look(e -> task.equals(e.taskId()) && e.event() instanceof ErrorReported).stream()
        .map(entry -> (ErrorReported) entry.event())
        .filter(error -> error.scope() == ErrorScope.TASK)
        .findFirst();
  }

  private static ObjectNode result(TaskId task, Entry end, Optional<ErrorReported> error) {
    var json = Json.object().put("taskId", task.value());
    if (end.origin() != null) {
      json.put("agentId", end.origin().agentId().value());
    }
    switch (end.event()) {
      case TaskComplete(var content, var artifacts, var metadata) -> {
        json.put("status", "success").put("output", content == null ? "" : content);
        if (artifacts != null) {
          var list = json.putArray("artifacts");
          artifacts.forEach(artifact -> list.add(artifact.value()));
        }
        if (metadata != null) {
          copy(metadata, json);
        }
      }
      case TaskStatus status -> {
        var timedOut = error.filter(e -> e.code() == ErrorCode.TIMEOUT).isPresent();
        json.put(
            "status",
            timedOut ? "timeout" : status.status() == TaskState.FAILED ? "failure" : "cancelled");
        json.put("output", "");
        error.ifPresent(e -> json.put("error", e.message()));
      }
      default -> throw new IllegalStateException("not an end: " + end);
    }
    return json;
  }

  private static void copy(ObjectNode metadata, ObjectNode result) {
    for (var name : new String[] {"usage", "modelUsage", "costUsd", "duration"}) {
      if (metadata.has(name)) {
        result.set(name, metadata.get(name));
      }
    }
    result.put("numTurns", metadata.path("iterations").asInt());
  }
}
