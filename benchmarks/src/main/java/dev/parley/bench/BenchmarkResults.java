package dev.parley.bench;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// All results of a run, as `--json` writes them: from these, tables and charts can be made again.
record BenchmarkResults(String date, String commit, List<BenchmarkSection> sections) {

  /// The results of one benchmark.
  record BenchmarkSection(
      String title,
      List<String> notes,
      List<TableResult> tables,
      List<GoalResult> goals,
      List<BenchmarkChart> charts) {
    BenchmarkSection {
      notes = List.copyOf(notes);
      tables = List.copyOf(tables);
      goals = List.copyOf(goals);
      charts = List.copyOf(charts);
    }
  }

  /// The rows of a table; the first is its head.
  record TableResult(List<List<String>> rows) {
    TableResult {
      rows = List.copyOf(rows);
    }
  }

  /// A goal, the measured value, and the verdict as the report prints it.
  record GoalResult(String goal, double wanted, double measured, String unit, String verdict) {}

  BenchmarkResults {
    sections = List.copyOf(sections);
  }

  static BenchmarkResults read(Path file) throws IOException {
    return Json.read(Files.readAllBytes(file), BenchmarkResults.class);
  }

  void write(Path file) throws IOException {
    Files.write(file, Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsBytes(this));
  }

  /// Writes each chart as `NAME.svg`.
  void writeCharts(Path folder) throws IOException {
    Files.createDirectories(folder);
    for (var section : sections) {
      for (var chart : section.charts()) {
        Files.writeString(folder.resolve(chart.name() + ".svg"), SvgChart.of(chart));
      }
    }
  }

  /// All tables and goals as Markdown.
  String markdown() {
    var lines = new ArrayList<String>();
    lines.add("Measured on " + date + ", commit " + commit + ".");
    for (var section : sections) {
      lines.addAll(List.of("", "### " + section.title(), ""));
      for (var table : section.tables()) {
        lines.addAll(markdown(table.rows()));
        lines.add("");
      }
      lines.addAll(section.notes().stream().filter(note -> !note.isBlank()).toList());
      if (!section.goals().isEmpty()) {
        lines.add("");
        lines.addAll(markdown(goalRows(section.goals())));
      }
    }
    return String.join("\n", lines) + "\n";
  }

  private static List<List<String>> goalRows(List<GoalResult> goals) {
    var rows = new ArrayList<List<String>>();
    rows.add(List.of("Goal", "Measured", "Verdict"));
    for (var goal : goals) {
      rows.add(
          List.of(
              goal.goal(), BenchmarkReport.shown(goal.measured()) + goal.unit(), goal.verdict()));
    }
    return rows;
  }

  private static List<String> markdown(List<List<String>> rows) {
    var lines = new ArrayList<String>();
    for (var row : rows) {
      lines.add("| " + String.join(" | ", row) + " |");
      if (lines.size() == 1) {
        lines.add("|---".repeat(row.size()) + "|");
      }
    }
    return lines;
  }
}
