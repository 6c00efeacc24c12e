package dev.parley.bench;

import dev.parley.bench.BenchmarkChart.ChartLine;
import dev.parley.bench.BenchmarkChart.ChartPoint;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Collects the points of a chart while they are measured.
final class ChartLines {

  private final Map<String, List<ChartPoint>> lines = new LinkedHashMap<>();

  /// Adds a point to the line of this name.
  void add(String line, double x, double y) {
    lines.computeIfAbsent(line, _ -> new ArrayList<>()).add(new ChartPoint(x, y));
  }

  BenchmarkChart chart(String name, String title, String xLabel, String yLabel) {
    var all =
        lines.entrySet().stream()
            .map(line -> new ChartLine(line.getKey(), line.getValue()))
            .toList();
    return new BenchmarkChart(name, title, xLabel, yLabel, all);
  }
}
