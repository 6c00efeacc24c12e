package dev.parley.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/// The values of all metrics, in the text format of Prometheus. Safe for many threads.
///
/// The number of series of a metric is limited: after [#SERIES_MAX] different labels, further ones
/// are counted under the label `other`.
public final class Metrics {

  /// How many series a metric may have.
  static final int SERIES_MAX = 100;

  private static final String OTHER = "other";

  private static final double[] FAST = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10
  };
  private static final double[] SLOW = {
    0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600
  };

  private final Map<Metric, Family> families = new EnumMap<>(Metric.class);

  public Metrics() {
    for (var metric : Metric.values()) {
      families.put(metric, new Family(metric));
    }
  }

  /// The counter with these values of its labels.
  public Counter counter(Metric metric, String... labels) {
    return (Counter) family(metric).series(labels, Counter::new);
  }

  /// The histogram of times with these values of its labels.
  public Histogram histogram(Metric metric, String... labels) {
    var bounds = metric.type() == Metric.Type.SLOW_HISTOGRAM ? SLOW : FAST;
    return (Histogram) family(metric).series(labels, () -> new Histogram(bounds));
  }

  /// Registers a value that is read for each scrape.
  public void gauge(Metric metric, DoubleSupplier value, String... labels) {
    family(metric).series.put(family(metric).key(labels), new Supplied(value));
  }

  /// Registers values for each value of a metric's only label, which are read for each scrape.
  public void gauges(Metric metric, Supplier<Map<String, ? extends Number>> values) {
    family(metric).values = values;
  }

  /// The current value of a gauge without labels; empty if it is not registered.
  public OptionalDouble value(Metric metric) {
    return family(metric).series.get("") instanceof Supplied(var value)
        ? OptionalDouble.of(value.getAsDouble())
        : OptionalDouble.empty();
  }

  private Family family(Metric metric) {
    var family = families.get(metric);
    if (family == null) {
      throw new IllegalArgumentException(metric.title());
    }
    return family;
  }

  sealed interface Series {}

  private record Supplied(DoubleSupplier value) implements Series {}

  /// A number that only grows.
  public static final class Counter implements Series {
    private final DoubleAdder sum = new DoubleAdder();

    private Counter() {}

    /// Counts one.
    public void increment() {
      sum.add(1);
    }

    /// Adds an amount.
    public void add(long amount) {
      sum.add((double) amount);
    }

    /// Adds a fractional amount.
    public void add(double amount) {
      sum.add(amount);
    }
  }

  /// Times, counted in buckets.
  public static final class Histogram implements Series {
    private final double[] bounds;
    private final AtomicLongArray buckets;
    private final LongAdder nanos = new LongAdder();

    private Histogram(double[] bounds) {
      this.bounds = bounds;
      this.buckets = new AtomicLongArray(bounds.length + 1);
    }

    /// Counts one time.
    public void record(long elapsedNanos) {
      var found = Arrays.binarySearch(bounds, elapsedNanos / 1e9);
      buckets.incrementAndGet(found < 0 ? -found - 1 : found);
      nanos.add(elapsedNanos);
    }
  }

  /// All series of one metric, by their encoded labels.
  private static final class Family {
    private final Metric metric;
    private final Map<String, Series> series = new ConcurrentHashMap<>();
    private volatile Supplier<Map<String, ? extends Number>> values = Collections::emptyMap;

    Family(Metric metric) {
      this.metric = metric;
    }

    Series series(String[] labels, Supplier<Series> fresh) {
      var key = key(labels);
      var known = series.get(key);
      if (known != null) {
        return known;
      }
      if (series.size() >= SERIES_MAX) {
        var others = new String[labels.length];
        Arrays.fill(others, OTHER);
        key = key(others);
      }
      return series.computeIfAbsent(key, _ -> fresh.get());
    }

    String key(String... labels) {
      var names = metric.labels();
      if (labels.length != names.size()) {
        throw new IllegalArgumentException(metric.title() + " has the labels " + names);
      }
      var text = new StringBuilder();
      for (var i = 0; i < labels.length; i++) {
        text.append(i == 0 ? "" : ",").append(names.get(i)).append("=\"");
        text.append(escaped(labels[i])).append('"');
      }
      return text.toString();
    }
  }

  byte[] text() {
    return exposition().getBytes(StandardCharsets.UTF_8);
  }

  /// All metrics and their values, in the text format of Prometheus.
  public String exposition() {
    var text = new StringBuilder(16_384);
    families.values().forEach(family -> write(text, family));
    return text.toString();
  }

  private static void write(StringBuilder text, Family family) {
    var metric = family.metric;
    text.append("# HELP ").append(metric.title()).append(' ').append(metric.help()).append('\n');
    text.append("# TYPE ").append(metric.title()).append(' ');
    text.append(
        switch (metric.type()) {
          case COUNTER -> "counter";
          case GAUGE -> "gauge";
          case HISTOGRAM, SLOW_HISTOGRAM -> "histogram";
        });
    text.append('\n');
    new TreeMap<>(family.series).forEach((labels, series) -> write(text, metric, labels, series));
    new TreeMap<>(family.values.get())
        .forEach(
            (label, value) -> line(text, metric.title(), family.key(label), value.doubleValue()));
  }

  private static void write(StringBuilder text, Metric metric, String labels, Series series) {
    var name = metric.title();
    switch (series) {
      case Counter counter -> line(text, name, labels, counter.sum.sum());
      case Supplied(var value) -> line(text, name, labels, value.getAsDouble());
      case Histogram histogram -> {
        var count = 0L;
        var more = labels.isEmpty() ? "" : labels + ",";
        for (var i = 0; i < histogram.bounds.length; i++) {
          count += histogram.buckets.get(i);
          line(text, name + "_bucket", more + "le=\"" + histogram.bounds[i] + "\"", (double) count);
        }
        count += histogram.buckets.get(histogram.bounds.length);
        line(text, name + "_bucket", more + "le=\"+Inf\"", (double) count);
        line(text, name + "_sum", labels, histogram.nanos.sum() / 1e9);
        line(text, name + "_count", labels, (double) count);
      }
    }
  }

  private static void line(StringBuilder text, String name, String labels, double value) {
    text.append(name);
    if (!labels.isEmpty()) {
      text.append('{').append(labels).append('}');
    }
    text.append(' ');
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      text.append((long) value);
    } else if (Double.isNaN(value)) {
      text.append("NaN");
    } else {
      text.append(value);
    }
    text.append('\n');
  }

  private static String escaped(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
