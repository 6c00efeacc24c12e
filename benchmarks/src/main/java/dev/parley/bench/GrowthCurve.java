package dev.parley.bench;

import java.util.ArrayList;
import java.util.List;

/// How a measured value depends on a size: the exponent of the power law that fits best.
///
/// A constant cost hides the growth at small sizes, so the exponent between the two largest sizes
/// counts if it is higher than that of the whole curve.
record GrowthCurve(List<Point> points) {

  /// A value at a size.
  record Point(double size, double value) {}

  /// The shape of a curve.
  enum Shape {
    FLAT("flat"),
    BELOW_LINEAR("below linear"),
    LINEAR("linear"),
    WORSE("WORSE THAN LINEAR");

    private final String text;

    Shape(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }

  private static final double FLAT_MAX = 0.15;
  private static final double LINEAR_MIN = 0.85;
  private static final double LINEAR_MAX = 1.15;

  GrowthCurve {
    points = List.copyOf(points);
  }

  /// 0 is flat, 1 linear, 2 quadratic.
  double exponent() {
    var last = points.subList(Math.max(0, points.size() - 2), points.size());
    return Math.max(fit(points), fit(last));
  }

  Shape shape() {
    var exponent = exponent();
    if (exponent > LINEAR_MAX) {
      return Shape.WORSE;
    }
    if (exponent >= LINEAR_MIN) {
      return Shape.LINEAR;
    }
    return exponent > FLAT_MAX ? Shape.BELOW_LINEAR : Shape.FLAT;
  }

  /// The slope of the line through the logarithms, by least squares.
  private static double fit(List<Point> points) {
    var logs = new ArrayList<double[]>();
    for (var point : points) {
      logs.add(new double[] {Math.log(point.size()), Math.log(Math.max(point.value(), 1e-9))});
    }
    var meanX = logs.stream().mapToDouble(log -> log[0]).average().orElse(0);
    var meanY = logs.stream().mapToDouble(log -> log[1]).average().orElse(0);
    var covariance = 0.0;
    var variance = 0.0;
    for (var log : logs) {
      covariance += (log[0] - meanX) * (log[1] - meanY);
      variance += (log[0] - meanX) * (log[0] - meanX);
    }
    return variance == 0 ? 0 : covariance / variance;
  }
}
