package dev.parley.bench;

import dev.parley.bench.BenchmarkChart.ChartLine;
import dev.parley.bench.BenchmarkChart.ChartPoint;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/// Draws a chart as SVG, readable on light and on dark pages.
///
/// Both axes are logarithmic, with a grid line at each power of ten. All text is text.
final class SvgChart {

  private static final int WIDTH = 720;
  private static final int LEFT = 76;
  private static final int TOP = 44;
  private static final int PLOT_WIDTH = 610;
  private static final int PLOT_HEIGHT = 280;
  private static final int LEGEND_LINE = 20;
  private static final int LEGEND_TOP = TOP + PLOT_HEIGHT + 62;

  /// Colors that differ for color-blind people, too, and have contrast on both backgrounds.
  private static final List<String> COLORS =
      List.of(
          "#1f83c9", "#d9690b", "#2a9d61", "#c4508f", "#8a78d6", "#a8861c", "#5b8a99", "#c0453f");

  private static final String STYLE =
      """
      <style>
        .page { fill: #ffffff } .ink { fill: #24292f } .grid { stroke: #d0d7de } .axis { stroke: #57606a }
        text { font: 13px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 }
        @media (prefers-color-scheme: dark) {
          .page { fill: #0d1117 } .ink { fill: #e6edf3 } .grid { stroke: #30363d } .axis { stroke: #8b949e }
        }
      </style>
      """;

  private final BenchmarkChart chart;
  private final AxisRange x;
  private final AxisRange y;
  private final StringBuilder svg = new StringBuilder();

  /// The powers of ten that an axis shows.
  private record AxisRange(int from, int to) {
    static AxisRange of(List<ChartLine> lines, ToDoubleFunction<ChartPoint> part) {
      var numbers =
          lines.stream()
              .flatMap(line -> line.points().stream())
              .mapToDouble(part)
              .filter(number -> number > 0)
              .map(Math::log10)
              .summaryStatistics();
      if (numbers.getCount() == 0) {
        return new AxisRange(0, 1);
      }
      var from = (int) Math.floor(numbers.getMin());
      return new AxisRange(from, Math.max(from + 1, (int) Math.ceil(numbers.getMax())));
    }

    /// Where a number is on the axis, from 0 to 1.
    double place(double number) {
      return (Math.log10(number) - from) / (to - from);
    }
  }

  private SvgChart(BenchmarkChart chart) {
    this.chart = chart;
    this.x = AxisRange.of(chart.lines(), ChartPoint::x);
    this.y = AxisRange.of(chart.lines(), ChartPoint::y);
  }

  static String of(BenchmarkChart chart) {
    return new SvgChart(chart).draw();
  }

  private String draw() {
    var height = LEGEND_TOP + LEGEND_LINE * chart.lines().size();
    line(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\" role=\"img\">"
            .formatted(WIDTH, height, WIDTH, height));
    line("<title>" + escaped(chart.title()) + "</title>");
    svg.append(STYLE);
    line("<rect class=\"page\" width=\"%s\" height=\"%s\"/>".formatted(WIDTH, height));
    text(WIDTH / 2.0, 24, "middle", "ink title", chart.title());
    axes();
    for (var i = 0; i < chart.lines().size(); i++) {
      draw(chart.lines().get(i), COLORS.get(i % COLORS.size()), LEGEND_TOP + LEGEND_LINE * i);
    }
    line("</svg>");
    return svg.toString();
  }

  private void axes() {
    for (var power = x.from(); power <= x.to(); power++) {
      var at = atX(Math.pow(10, power));
      gridLine(at, TOP, at, TOP + PLOT_HEIGHT);
      text(at, TOP + PLOT_HEIGHT + 18, "middle", "ink", power(power));
    }
    for (var power = y.from(); power <= y.to(); power++) {
      var at = atY(Math.pow(10, power));
      gridLine(LEFT, at, LEFT + PLOT_WIDTH, at);
      text(LEFT - 8, at + 4, "end", "ink", power(power));
    }
    line(
        "<path class=\"axis\" fill=\"none\" d=\"M%s %sV%sH%s\"/>"
            .formatted(LEFT, TOP, TOP + PLOT_HEIGHT, LEFT + PLOT_WIDTH));
    text(LEFT + PLOT_WIDTH / 2.0, TOP + PLOT_HEIGHT + 40, "middle", "ink", chart.xLabel());
    line(
        "<text class=\"ink\" text-anchor=\"middle\" transform=\"translate(18 %s) rotate(-90)\">%s</text>"
            .formatted(TOP + PLOT_HEIGHT / 2, escaped(chart.yLabel())));
  }

  private void draw(ChartLine chartLine, String color, int legendY) {
    var points = new ArrayList<String>();
    for (var point : chartLine.points()) {
      if (point.x() > 0 && point.y() > 0) {
        var centerX = number(atX(point.x()));
        var centerY = number(atY(point.y()));
        points.add(centerX + "," + centerY);
        line(
            "<circle cx=\"%s\" cy=\"%s\" r=\"3.5\" fill=\"%s\"/>"
                .formatted(centerX, centerY, color));
      }
    }
    line(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>"
            .formatted(String.join(" ", points), color));
    line(
        "<rect x=\"%s\" y=\"%s\" width=\"18\" height=\"4\" fill=\"%s\"/>"
            .formatted(LEFT, legendY - 6, color));
    text(LEFT + 26, legendY, "start", "ink", chartLine.name());
  }

  private double atX(double number) {
    return LEFT + PLOT_WIDTH * x.place(number);
  }

  private double atY(double number) {
    return TOP + PLOT_HEIGHT * (1 - y.place(number));
  }

  private void gridLine(double fromX, double fromY, double toX, double toY) {
    line(
        "<line class=\"grid\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>"
            .formatted(number(fromX), number(fromY), number(toX), number(toY)));
  }

  private void text(double atX, double atY, String anchor, String style, String text) {
    line(
        "<text class=\"%s\" text-anchor=\"%s\" x=\"%s\" y=\"%s\">%s</text>"
            .formatted(style, anchor, number(atX), number(atY), escaped(text)));
  }

  private void line(String text) {
    svg.append(text).append('\n');
  }

  private static String number(double number) {
    return String.format(Locale.ROOT, "%.1f", number);
  }

  /// A power of ten, such as `0.01`, `100` or `1M`.
  private static String power(int power) {
    var number = Math.pow(10, power);
    if (power >= 9) {
      return String.format(Locale.ROOT, "%.0fG", number / 1e9);
    }
    if (power >= 6) {
      return String.format(Locale.ROOT, "%.0fM", number / 1e6);
    }
    return power >= 0
        ? String.format(Locale.ROOT, "%,.0f", number)
        : BigDecimal.ONE.scaleByPowerOfTen(power).toPlainString();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
