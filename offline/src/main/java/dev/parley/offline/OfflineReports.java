package dev.parley.offline;

import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// The Markdown reports that the offline model writes.
final class OfflineReports {

  private OfflineReports() {}

  static String report(String subject) {
    return """
    # Report on %1$s

    ## In short

    This report was written by the offline model, which follows rules and knows nothing of
    %1$s. It shows what a file looks like that an agent writes piece by piece.

    ## What is known

    | Question | Answer |
    |---|---|
    | What was asked for? | %2$s |
    | Who wrote it? | the offline model |

    ## What comes next

    1. Configure a model that knows about %1$s.
    2. Ask again.
    """
        .formatted(subject, cell(subject));
  }

  /// Returns the report on CSV files, from the findings of the tool `dataset` for each file.
  static String csvReport(List<JsonNode> files, List<String> skipped) {
    var text = new StringBuilder("# Summary of the CSV files\n\n");
    text.append("| File | Rows | Columns |\n|---|---:|---|\n");
    for (var file : files) {
      text.append(
          "| %s | %d | %s |\n"
              .formatted(
                  cell(file.path("file").asString()),
                  file.path("rows").asInt(),
                  cell(columns(file))));
    }
    for (var file : files) {
      text.append("\n## ").append(file.path("file").asString()).append("\n\n");
      text.append(numbers(file));
    }
    if (!skipped.isEmpty()) {
      text.append("\n## Left out\n\n");
      skipped.forEach(reason -> text.append("- ").append(reason).append('\n'));
    }
    return text.toString();
  }

  static String columns(JsonNode file) {
    return file.path("columns")
        .valueStream()
        .map(JsonNode::asString)
        .collect(Collectors.joining(", "));
  }

  private static String numbers(JsonNode file) {
    var numeric = file.path("numeric");
    if (numeric.isEmpty()) {
      return "No column holds only numbers.\n";
    }
    var text = new StringBuilder("| Column | Min | Max | Mean |\n|---|---:|---:|---:|\n");
    for (var column : numeric.properties()) {
      var range = column.getValue();
      text.append(
          "| %s | %s | %s | %s |\n"
              .formatted(
                  cell(column.getKey()),
                  range.path("min").asString(),
                  range.path("max").asString(),
                  range.path("mean").asString()));
    }
    return text.toString();
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replaceAll("\\s+", " ");
  }
}
