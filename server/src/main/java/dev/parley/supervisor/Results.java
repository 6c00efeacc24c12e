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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// What the agents below a supervisor came to, one result each.
final class Results {

  private Results() {}

  /// The supervisor's own end: for one agent its words, else what was made of all; and each result.
  static Outcome of(Run run, Routing routing, Outcome.Completed completed) {
    var found = read(run);
    var about = Json.object();
    about.set(Supervisor.ROUTING, routing.json());
    var results = about.putArray("results");
    found.ends().forEach((task, end) -> results.add(result(task, end, found.error(task))));
    var one = routing.strategy() == Strategy.SINGLE || routing.strategy() == Strategy.DELEGATE;
    var content = one ? words(found.ends()) : completed.content();
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
    var found = read(run);
    return found.ends().keySet().stream()
        .flatMap(task -> found.error(task).stream())
        .findFirst()
        .map(error -> new Reply.Failed(error.code(), error.message(), error.retryable()));
  }

  /// Of each task right below: its last event, and the first error that ended it.
  private record Found(Map<TaskId, Entry> ends, Map<TaskId, ErrorReported> errors) {
    Optional<ErrorReported> error(TaskId task) {
      return Optional.ofNullable(errors.get(task));
    }
  }

  private static Found read(Run run) {
    var found = new Found(new LinkedHashMap<>(), new HashMap<>());
    for (var entry : run.look(entry -> below(run, entry) && tells(entry))) {
      var task = entry.taskId();
      if (task != null && entry.event() instanceof ErrorReported error) {
        found.errors().putIfAbsent(task, error);
      } else if (task != null) {
        found.ends().put(task, entry);
      }
    }
    return found;
  }

  private static boolean below(Run run, Entry entry) {
    return entry.origin() != null && run.origin().taskId().equals(entry.origin().parentTaskId());
  }

  private static boolean tells(Entry entry) {
    return switch (entry.event()) {
      case TaskComplete _ -> true;
      case TaskStatus status ->
          status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED;
      case ErrorReported error -> error.scope() == ErrorScope.TASK;
      // Most events say nothing of a task's end.
      default -> false;
    };
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
