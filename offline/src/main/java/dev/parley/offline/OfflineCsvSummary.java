package dev.parley.offline;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// The offline model's summary of CSV files: it lists them, reads them concurrently, creates a
/// dataset of their rows, writes a data record and a report, and answers with its findings.
final class OfflineCsvSummary {

  private static final int FILES_MAX = 20;
  private static final String NONE =
      """
      There are no CSV files here. Put some into the folder that I work in, and ask again. \
      To try it, say this, approve it, and then ask again:

      ```
      run printf 'town,people\\nUlm,100\\nBonn,300\\n' > towns.csv
      ```\
      """;

  private OfflineCsvSummary() {}

  static void run(OfflineTurn offlineTurn) throws InterruptedException {
    for (var tool : List.of("list_files", "read_file", "dataset", "data", "report")) {
      if (!offlineTurn.has(tool)) {
        offlineTurn.writeText("I need the tool `" + tool + "` for that, and do not have it.");
        return;
      }
    }
    if (offlineTurn.results("list_files").isEmpty()) {
      offlineTurn.think(
          ThoughtType.PLANNING, Verbosity.BRIEF, "First I look which CSV files there are.");
      offlineTurn.call("list_files", "pattern", "*.csv");
    } else if (offlineTurn.results("read_file").isEmpty()) {
      read(offlineTurn);
    } else if (offlineTurn.results("dataset").isEmpty()) {
      collectRows(offlineTurn);
    } else if (offlineTurn.results("report").isEmpty()) {
      write(offlineTurn);
    } else {
      writeAnswer(offlineTurn);
    }
  }

  private static void read(OfflineTurn offlineTurn) throws InterruptedException {
    var listing = offlineTurn.results("list_files").getLast();
    if (!listing.success()) {
      offlineTurn.writeText("I could not list the files: " + listing.result().asString() + ".");
      return;
    }
    var files = files(listing.result());
    if (files.isEmpty()) {
      offlineTurn.writeText(NONE);
      return;
    }
    offlineTurn.think(
        ThoughtType.OBSERVATION, Verbosity.NORMAL, "I read: " + String.join(", ", files));
    files.forEach(file -> offlineTurn.call("read_file", "path", file));
  }

  private static void collectRows(OfflineTurn offlineTurn) throws InterruptedException {
    var usable = usable(offlineTurn);
    if (usable.isEmpty()) {
      offlineTurn.writeText(
          "There is nothing to summarise. " + String.join(" ", skipped(offlineTurn)));
      return;
    }
    var arguments =
        Json.object().put("name", "csv-rows").put("description", "All rows of the CSV files");
    usable.forEach(arguments.putArray("files")::add);
    offlineTurn.think(
        ThoughtType.STRATEGY, Verbosity.NORMAL, "I put all rows into one dataset and count there.");
    offlineTurn.call("dataset", arguments);
  }

  private static void write(OfflineTurn offlineTurn) throws InterruptedException {
    var dataset = offlineTurn.results("dataset").getLast();
    if (!dataset.success()) {
      offlineTurn.writeText(
          "I could not put the rows together: " + dataset.result().asString() + ".");
      return;
    }
    var files = dataset.result().path("files").valueStream().toList();
    var data = Json.object().put("rows", dataset.result().path("rows").asInt());
    files.forEach(data.putArray("files")::add);
    var record =
        Json.object().put("name", "csv-summary").put("description", "What the CSV files hold");
    record.set("data", data);
    offlineTurn.call("data", record);
    offlineTurn.call(
        "report",
        Json.object()
            .put("name", "csv-report.md")
            .put("description", "Summary of the CSV files")
            .put("content", OfflineReports.csvReport(files, skipped(offlineTurn))));
  }

  private static void writeAnswer(OfflineTurn offlineTurn) throws InterruptedException {
    var dataset = offlineTurn.results("dataset").getLast().result();
    var files = dataset.path("files").valueStream().toList();
    var text = new StringBuilder();
    text.append("I have summarised ").append(amount(files.size(), "CSV file"));
    text.append(" with ").append(amount(dataset.path("rows").asInt(), "row")).append(" in all.\n");
    files.forEach(file -> text.append("\n- ").append(finding(file)));
    skipped(offlineTurn).forEach(reason -> text.append("\n- ").append(reason));
    text.append(
        "\n\nThe rows are in the dataset csv-rows, the figures in the record csv-summary, ");
    text.append("and the report is csv-report.md.");
    offlineTurn.writeText(text.toString());
  }

  private static String finding(JsonNode file) {
    var numbers =
        file.path("numeric")
            .propertyStream()
            .map(
                column ->
                    "%s from %s to %s, mean %s"
                        .formatted(
                            column.getKey(),
                            column.getValue().path("min").asString(),
                            column.getValue().path("max").asString(),
                            column.getValue().path("mean").asString()))
            .collect(Collectors.joining("; "));
    return "%s: %s, columns %s%s"
        .formatted(
            file.path("file").asString(),
            amount(file.path("rows").asInt(), "row"),
            OfflineReports.columns(file),
            numbers.isEmpty() ? "." : ". " + numbers + ".");
  }

  private static List<String> files(JsonNode listing) {
    return listing
        .path("entries")
        .valueStream()
        .filter(entry -> entry.path("type").asString("").equals("file"))
        .map(entry -> entry.path("path").asString())
        .limit(FILES_MAX)
        .toList();
  }

  private static List<String> usable(OfflineTurn offlineTurn) {
    return offlineTurn.results("read_file").stream()
        .filter(OfflineCsvSummary::readable)
        .map(result -> result.result().path("path").asString())
        .toList();
  }

  private static boolean readable(PromptPart.PromptToolResult result) {
    return result.success() && !result.result().path("content").asString("").isBlank();
  }

  private static List<String> skipped(OfflineTurn offlineTurn) {
    var skipped = new ArrayList<String>();
    for (var result : offlineTurn.results("read_file")) {
      if (!result.success()) {
        skipped.add("A file could not be read: " + result.result().asString() + ".");
      } else if (!readable(result)) {
        skipped.add(result.result().path("path").asString() + " is empty.");
      }
    }
    var found = offlineTurn.results("list_files").getLast().result().path("entries").size();
    if (found > FILES_MAX) {
      skipped.add("Only the first " + FILES_MAX + " of " + found + " files were read.");
    }
    return skipped;
  }

  private static String amount(int count, String thing) {
    return count + " " + thing + (count == 1 ? "" : "s");
  }
}
