package dev.parley.task;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.EmptyAnswer;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The totals of a task and all its descendants: a fold of their events. Not thread-safe.
final class TaskTotals {

  private final TaskId task;
  private final Set<TaskId> descendants = new HashSet<>();
  private final Set<ArtifactId> artifacts = new LinkedHashSet<>();
  private final Map<String, Usage> usages = new LinkedHashMap<>();
  private final Map<String, Usage> ownUsages = new LinkedHashMap<>();
  private final Map<TaskId, Integer> turns = new HashMap<>();
  private @Nullable FinishReason finish;

  private @Nullable Instant startedAt;

  TaskTotals(TaskId task) {
    this.task = task;
  }

  /// Adds an entry of the context; entries of other task trees are ignored. A task's entries follow
  /// its creation, so all descendants are known by then.
  void add(Entry entry) {
    var origin = entry.origin();
    if (origin == null) {
      return;
    }
    if (origin.taskId().equals(task)) {
      addOwn(entry);
    } else if (isBelow(origin)) {
      descendants.add(origin.taskId());
    } else {
      return;
    }
    switch (entry.event()) {
      case ArtifactEvent artifact -> artifacts.add(artifact.artifactId());
      case Usage usage -> add(usage, usages);
      case InternalLlmCall call -> turns.merge(origin.taskId(), call.iteration(), Math::max);
      default -> {} // Does not count.
    }
  }

  private boolean isBelow(Origin origin) {
    var parent = origin.parentTaskId();
    return parent != null
        && (descendants.contains(origin.taskId())
            || parent.equals(task)
            || descendants.contains(parent));
  }

  private void addOwn(Entry entry) {
    switch (entry.event()) {
      case ContentComplete complete -> finish = complete.finishReason();
      case TaskStatus status when startedAt == null && status.status() == TaskState.WORKING ->
          startedAt = entry.timestamp();
      case Usage usage -> add(usage, ownUsages);
      default -> {} // Does not count.
    }
  }

  /// The finish reason of an answer that the task passes on.
  void setFinishReason(FinishReason reason) {
    finish = reason;
  }

  private static void add(Usage usage, Map<String, Usage> sums) {
    sums.merge(usage.model(), usage, (one, other) -> sum(usage.model(), one, other));
  }

  private static Usage sum(String model, Usage one, Usage other) {
    return new Usage(
        model,
        one.inputTokens() + other.inputTokens(),
        one.outputTokens() + other.outputTokens(),
        sum(one.cacheCreationInputTokens(), other.cacheCreationInputTokens()),
        sum(one.cacheReadInputTokens(), other.cacheReadInputTokens()),
        sum(one.costUsd(), other.costUsd()));
  }

  private static @Nullable Long sum(@Nullable Long one, @Nullable Long other) {
    return one == null ? other : other == null ? one : Long.valueOf(one + other);
  }

  private static @Nullable BigDecimal sum(@Nullable BigDecimal one, @Nullable BigDecimal other) {
    return one == null ? other : other == null ? one : one.add(other);
  }

  @Nullable List<ArtifactId> artifacts() {
    return artifacts.isEmpty() ? null : List.copyOf(artifacts);
  }

  /// The metadata of the answer: usage, duration, whether it is empty, and why it is incomplete.
  ObjectNode messageMetadata(String content, Instant now) {
    var metadata = Json.object();
    metadata.set("usage", usage(total(usages)));
    metadata.put("duration", duration(now));
    mark(content, metadata);
    return metadata;
  }

  /// The metadata of the end of a task that succeeded: its totals, whether its answer is empty, and
  /// why it is incomplete.
  ObjectNode taskMetadata(String content, Instant now) {
    var metadata = totals(now);
    mark(content, metadata);
    return metadata;
  }

  private void mark(String content, ObjectNode metadata) {
    if (content.isBlank()) {
      EmptyAnswer.put(metadata);
    }
    EarlyEnd.of(finish).ifPresent(early -> early.put(metadata));
  }

  /// The totals of the task and its descendants, overall and by model, for the metadata of its end.
  /// `ownUsage` is the task's own usage, if it has subtasks.
  ObjectNode totals(Instant now) {
    var total = total(usages);
    var metadata =
        Json.object()
            .put("duration", duration(now))
            .put("iterations", turns())
            .put("tokensUsed", total.totalTokens());
    metadata.set("usage", usage(total));
    var models = metadata.putObject("modelUsage");
    usages.forEach((model, usage) -> models.set(model, usage(usage)));
    if (total.costUsd() != null) {
      metadata.put("costUsd", total.costUsd());
    }
    if (!descendants.isEmpty()) {
      metadata.set("ownUsage", usage(total(ownUsages)));
    }
    return metadata;
  }

  /// The model calls of the task; those of its subtasks if it only delegates.
  private int turns() {
    var own = turns.get(task);
    return own == null ? turns.values().stream().mapToInt(Integer::intValue).sum() : own;
  }

  private static Usage total(Map<String, Usage> sums) {
    return sums.values().stream()
        .reduce(new Usage("", 0, 0, null, null, null), (one, other) -> sum("", one, other));
  }

  private long duration(Instant now) {
    return startedAt == null ? 0 : Math.max(0, Duration.between(startedAt, now).toMillis());
  }

  private static ObjectNode usage(Usage usage) {
    var json =
        Json.object()
            .put("inputTokens", usage.inputTokens())
            .put("outputTokens", usage.outputTokens());
    if (usage.cacheCreationInputTokens() != null) {
      json.put("cacheCreationInputTokens", usage.cacheCreationInputTokens());
    }
    if (usage.cacheReadInputTokens() != null) {
      json.put("cacheReadInputTokens", usage.cacheReadInputTokens());
    }
    if (usage.costUsd() != null) {
      json.put("costUsd", usage.costUsd());
    }
    return json;
  }
}
