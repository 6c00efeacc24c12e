package dev.parley.bench;

import java.util.List;

/// The data of a chart: lines of points over two logarithmic axes. `name` is the name of its file.
record BenchmarkChart(
    String name, String title, String xLabel, String yLabel, List<ChartLine> lines) {

  /// A line, with its name in the legend.
  record ChartLine(String name, List<ChartPoint> points) {
    ChartLine {
      points = List.copyOf(points);
    }
  }

  /// A point of a line. Only positive numbers can be shown.
  record ChartPoint(double x, double y) {}

  BenchmarkChart {
    lines = List.copyOf(lines);
  }
}
