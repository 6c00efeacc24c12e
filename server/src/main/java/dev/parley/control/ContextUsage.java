package dev.parley.control;

import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskAccount;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/// How far the use of a context is counted, and who is responsible for its open root tasks. Not
/// thread-safe.
final class ContextUsage {

  private final Map<TaskId, TaskAccount> roots = new LinkedHashMap<>();
  private Position position;

  /// Receives what an entry uses.
  interface UsageSink {
    void used(TaskAccount account, String agent, BudgetResource resource, BigDecimal amount);
  }

  /// The stored form.
  private record StoredUsage(String position, Map<String, TaskAccount> roots) {}

  ContextUsage(Position position) {
    this.position = position;
  }

  static ContextUsage parse(String text) {
    var stored = Json.read(text.getBytes(StandardCharsets.UTF_8), StoredUsage.class);
    var usage = new ContextUsage(Position.parse(stored.position()));
    stored.roots().forEach((task, account) -> usage.roots.put(new TaskId(task), account));
    return usage;
  }

  String text() {
    var accounts = new LinkedHashMap<String, TaskAccount>();
    roots.forEach((task, account) -> accounts.put(task.value(), account));
    return new String(
        Json.bytes(new StoredUsage(position.toString(), accounts)), StandardCharsets.UTF_8);
  }

  Position position() {
    return position;
  }

  /// Counts the next entry. `unknown` returns who is responsible for a root task that was created
  /// before counting began.
  void add(Entry entry, Function<TaskId, TaskAccount> unknown, UsageSink sink) {
    position = entry.position();
    var origin = entry.origin();
    if (origin == null) {
      return;
    }
    var root = origin.rootTaskId();
    if (entry.event() instanceof TaskCreated created && origin.taskId().equals(root)) {
      created.facts().account().ifPresent(account -> roots.put(root, account));
    }
    var account = roots.computeIfAbsent(root, unknown);
    var agent = origin.agentId().value();
    switch (entry.event()) {
      case TaskCreated _ -> sink.used(account, agent, BudgetResource.TASKS, BigDecimal.ONE);
      case ToolStart _ -> sink.used(account, agent, BudgetResource.TOOL_CALLS, BigDecimal.ONE);
      case Usage usage -> {
        var tokens = BigDecimal.valueOf(usage.totalTokens());
        sink.used(account, agent, BudgetResource.TOKENS, tokens);
        if (usage.costUsd() != null) {
          sink.used(account, agent, BudgetResource.DOLLARS, usage.costUsd());
        }
      }
      default -> {} // Uses only space.
    }
    sink.used(account, agent, BudgetResource.MEGABYTES, megabytes(entry));
    if (origin.taskId().equals(root) && ends(entry)) {
      roots.remove(root);
    }
  }

  private static BigDecimal megabytes(Entry entry) {
    var bytes =
        entry.event() instanceof ContentDelta delta
            ? delta.delta().length()
            : Json.bytes(entry.event()).length;
    return BigDecimal.valueOf(bytes, 6);
  }

  private static boolean ends(Entry entry) {
    return switch (entry.event()) {
      case TaskComplete _ -> true;
      case TaskStatus status ->
          status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED;
      default -> false; // No other event ends a task.
    };
  }
}
