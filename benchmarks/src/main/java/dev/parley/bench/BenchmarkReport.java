package dev.parley.bench;

import dev.parley.bench.BenchmarkResults.BenchmarkSection;
import dev.parley.bench.BenchmarkResults.GoalResult;
import dev.parley.bench.BenchmarkResults.TableResult;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Prints results as they arrive, and records them with the goals that were met.
final class BenchmarkReport {

  private static final String MET = "met";
  private static final String MISSED = "MISSED";
  private static final String NOT_JUDGED = "not judged (noise)";

  private final PrintStream out;
  private final List<OpenSection> sections = new ArrayList<>();
  private boolean noisy;

  /// A section to which results are still added.
  private record OpenSection(
      String title,
      List<String> notes,
      List<TableResult> tables,
      List<GoalResult> goals,
      List<BenchmarkChart> charts) {
    OpenSection(String title) {
      this(title, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    BenchmarkSection closed() {
      return new BenchmarkSection(title, notes, tables, goals, charts);
    }
  }

  BenchmarkReport(PrintStream out) {
    this.out = out;
  }

  /// From now on, goals are reported as not judged.
  void doNotJudge() {
    noisy = true;
  }

  void title(String text) {
    sections.add(new OpenSection(text));
    out.println();
    out.println("== " + text);
    out.println();
  }

  void note(String text) {
    sections.getLast().notes().add(text);
    out.println(text);
  }

  void table(ReportTable reportTable) {
    sections.getLast().tables().add(new TableResult(reportTable.rows()));
    reportTable.lines().forEach(out::println);
    out.println();
  }

  /// Adds a chart, for the file of results.
  void chart(BenchmarkChart chart) {
    sections.getLast().charts().add(chart);
  }

  /// Reports whether the measured value is at least the wanted one.
  void atLeast(String what, double wanted, double measured, String unit) {
    goal(what + ": at least " + shown(wanted) + unit, wanted, measured, unit, measured >= wanted);
  }

  /// Reports whether the measured value is at most the wanted one.
  void atMost(String what, double wanted, double measured, String unit) {
    goal(what + ": at most " + shown(wanted) + unit, wanted, measured, unit, measured <= wanted);
  }

  private void goal(String text, double wanted, double measured, String unit, boolean met) {
    var verdict = noisy ? NOT_JUDGED : met ? MET : MISSED;
    var goal = new GoalResult(text, wanted, measured, unit, verdict);
    sections.getLast().goals().add(goal);
    out.println(line(goal));
  }

  private static String line(GoalResult goal) {
    return "%-7s %s (measured %s)"
        .formatted(goal.verdict(), goal.goal(), shown(goal.measured()) + goal.unit());
  }

  void summary() {
    var goals = sections.stream().flatMap(section -> section.goals().stream()).toList();
    title("Goals");
    goals.forEach(goal -> out.println(line(goal)));
    var met = goals.stream().filter(goal -> goal.verdict().equals(MET)).count();
    out.println();
    out.println(
        noisy
            ? goals.size() + " goals not judged, because the machine is too noisy"
            : met + " of " + goals.size() + " goals met");
  }

  /// All results up to now.
  BenchmarkResults results(String date, String commit) {
    return new BenchmarkResults(date, commit, sections.stream().map(OpenSection::closed).toList());
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
