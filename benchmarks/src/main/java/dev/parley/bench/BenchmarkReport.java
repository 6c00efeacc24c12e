package dev.parley.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Prints results as they arrive, and records which goals were met.
final class BenchmarkReport {

  private final PrintStream out;
  private final List<String> goals = new ArrayList<>();

  BenchmarkReport(PrintStream out) {
    this.out = out;
  }

  void title(String text) {
    out.println();
    out.println("== " + text);
    out.println();
  }

  void note(String text) {
    out.println(text);
  }

  void table(ReportTable reportTable) {
    reportTable.lines().forEach(out::println);
    out.println();
  }

  /// Reports whether the measured value is at least the wanted one.
  void atLeast(String what, double wanted, double measured, String unit) {
    goal(what + ": at least " + shown(wanted) + unit, measured >= wanted, shown(measured) + unit);
  }

  /// Reports whether the measured value is at most the wanted one.
  void atMost(String what, double wanted, double measured, String unit) {
    goal(what + ": at most " + shown(wanted) + unit, measured <= wanted, shown(measured) + unit);
  }

  private void goal(String text, boolean met, String measured) {
    var line = (met ? "met     " : "MISSED  ") + text + " (measured " + measured + ")";
    goals.add(line);
    out.println(line);
  }

  void summary() {
    title("Goals");
    goals.forEach(out::println);
    var met = goals.stream().filter(line -> line.startsWith("met")).count();
    out.println();
    out.println(met + " of " + goals.size() + " goals met");
  }

  /// Formats a number with about three significant digits.
  static String shown(double number) {
    var size = Math.abs(number);
    var form = size >= 100 || number == Math.rint(number) ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, form, number);
  }

  /// A ratio, such as `30.1 x`.
  static String times(double ratio) {
    return shown(ratio) + " x";
  }
}
