package dev.parley.door;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/// Numbers for operators, in the text format of Prometheus. Safe for many threads.
public final class Metrics {

  private static final double[] SECONDS = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10
  };

  private final Map<String, LongAdder> counters = new ConcurrentSkipListMap<>();
  private final Map<String, LongSupplier> gauges = new ConcurrentSkipListMap<>();
  private final Map<String, Histogram> histograms = new ConcurrentSkipListMap<>();

  /// The counter with this name, which may end in labels: `parley_requests_total{status="200"}`.
  public LongAdder counter(String name) {
    return counters.computeIfAbsent(name, _ -> new LongAdder());
  }

  /// Shows a number that is asked for when it is needed.
  public void gauge(String name, LongSupplier value) {
    gauges.put(name, value);
  }

  /// The histogram of times with this name.
  public Histogram histogram(String name) {
    return histograms.computeIfAbsent(name, _ -> new Histogram());
  }

  /// Times, counted in buckets.
  public static final class Histogram {
    private final AtomicLongArray buckets = new AtomicLongArray(SECONDS.length + 1);
    private final LongAdder nanos = new LongAdder();

    private Histogram() {}

    /// Counts one time.
    public void record(long elapsedNanos) {
      var found = Arrays.binarySearch(SECONDS, elapsedNanos / 1e9);
      buckets.incrementAndGet(found < 0 ? -found - 1 : found);
      nanos.add(elapsedNanos);
    }
  }

  byte[] text() {
    var text = new StringBuilder();
    var family = "";
    for (var counter : counters.entrySet()) {
      family = type(text, family, counter.getKey(), "counter");
      line(text, counter.getKey(), counter.getValue().sum());
    }
    for (var gauge : gauges.entrySet()) {
      family = type(text, family, gauge.getKey(), "gauge");
      line(text, gauge.getKey(), gauge.getValue().getAsLong());
    }
    for (var histogram : histograms.entrySet()) {
      family = type(text, family, histogram.getKey(), "histogram");
      lines(text, histogram.getKey(), histogram.getValue());
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String type(StringBuilder text, String before, String name, String type) {
    var brace = name.indexOf('{');
    var family = brace < 0 ? name : name.substring(0, brace);
    if (!family.equals(before)) {
      text.append("# TYPE ").append(family).append(' ').append(type).append('\n');
    }
    return family;
  }

  private static void line(StringBuilder text, String name, Object value) {
    text.append(name).append(' ').append(value).append('\n');
  }

  private static void lines(StringBuilder text, String name, Histogram histogram) {
    var count = 0L;
    for (var i = 0; i < SECONDS.length; i++) {
      count += histogram.buckets.get(i);
      line(text, name + "_bucket{le=\"" + SECONDS[i] + "\"}", count);
    }
    count += histogram.buckets.get(SECONDS.length);
    line(text, name + "_bucket{le=\"+Inf\"}", count);
    line(text, name + "_sum", histogram.nanos.sum() / 1e9);
    line(text, name + "_count", count);
  }
}
