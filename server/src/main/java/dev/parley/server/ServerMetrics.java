package dev.parley.server;

import dev.parley.control.Budgets;
import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import dev.parley.log.EventLog;
import dev.parley.projection.OpenWork;
import dev.parley.projection.Views;
import dev.parley.protocol.Rejection;
import dev.parley.task.Tasks;
import java.io.IOException;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Metrics that are read from the server's components on request.
///
/// If a component is unavailable, only its metrics are missing.
record ServerMetrics(
    Path data, EventLog log, Views views, Tasks tasks, OpenStreams streams, Budgets budgets) {

  private static final List<String> FILES =
      List.of(
          "log.db",
          "log.db-wal",
          "views.db",
          "views.db-wal",
          "push.db",
          "push.db-wal",
          "control.db",
          "control.db-wal",
          "audit.db",
          "audit.db-wal",
          "identity.db",
          "identity.db-wal");

  void addTo(Metrics metrics) {
    metrics.gauge(Metric.TASKS_RUNNING, tasks::running);
    metrics.gauge(Metric.TASKS_QUEUED, tasks::queued);
    metrics.gauge(Metric.STREAMS, streams::count);
    metrics.gauges(Metric.READERS, this::readers);
    metrics.gauge(Metric.READER_LAG, streams::lag);
    metrics.gauge(Metric.LOG_WRITABLE, () -> log.writable() ? 1 : 0);
    metrics.gauges(Metric.DATA_BYTES, this::files);
    metrics.gauge(Metric.DISK_FREE, this::free);
    metrics.gauges(Metric.BUDGET_USED, this::usedBudgets);
    metrics.gauges(Metric.TASKS, () -> work(OpenWork::tasks));
    metrics.gauges(Metric.QUESTIONS, () -> work(OpenWork::questions));
  }

  private Map<String, Long> usedBudgets() {
    var percents = new TreeMap<String, Long>();
    try {
      for (var view : budgets.all()) {
        var percent = view.used().movePointRight(2).divide(view.limit(), RoundingMode.FLOOR);
        percents.put(
            "%s/%s/%s"
                .formatted(
                    view.name(),
                    view.group() == null ? "all" : view.group(),
                    view.resource().wire()),
            percent.longValue());
      }
    } catch (Rejection unavailable) {
      return Map.of();
    }
    return percents;
  }

  private Map<String, Long> readers() {
    return streams.counts().entrySet().stream()
        .collect(
            Collectors.toMap(
                entry -> entry.getKey().name().toLowerCase(Locale.ROOT), Map.Entry::getValue));
  }

  private Map<String, Long> work(Function<OpenWork, Map<String, Long>> part) {
    try {
      return part.apply(views.openWork());
    } catch (Rejection unavailable) {
      return Map.of();
    }
  }

  private Map<String, Long> files() {
    var sizes = new TreeMap<String, Long>();
    for (var file : FILES) {
      try {
        sizes.put(file, Files.size(data.resolve(file)));
      } catch (IOException missing) {
        // The file is created on first use.
      }
    }
    return sizes;
  }

  private double free() {
    try {
      return Files.getFileStore(data).getUsableSpace();
    } catch (IOException unknown) {
      return Double.NaN;
    }
  }
}
