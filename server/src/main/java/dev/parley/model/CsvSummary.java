package dev.parley.model;

import dev.parley.model.Prompt.Part;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// The offline model's summary of CSV files: it lists them, reads them concurrently, creates a
/// dataset of their rows, writes a data record and a report, and answers with its findings.
final class CsvSummary {

  private static final int FILES_MAX = 20;
  private static final String NONE =
      """
      There are no CSV files here. Put some into the folder that I work in, and ask again. \
      To try it, say this, approve it, and then ask again:

      ```
      run printf 'town,people\\nUlm,100\\nBonn,300\\n' > towns.csv
      ```""";

  private CsvSummary() {}

  static void play(Exchange exchange) throws InterruptedException {
    for (var tool : List.of("list_files", "read_file", "dataset", "data", "report")) {
      if (!exchange.has(tool)) {
        exchange.say("I need the tool `" + tool + "` for that, and do not have it.");
        return;
      }
    }
    if (exchange.results("list_files").isEmpty()) {
      exchange.think(
          ThoughtType.PLANNING, Verbosity.BRIEF, "First I look which CSV files there are.");
      exchange.call("list_files", "pattern", "*.csv");
    } else if (exchange.results("read_file").isEmpty()) {
      read(exchange);
    } else if (exchange.results("dataset").isEmpty()) {
      gather(exchange);
    } else if (exchange.results("report").isEmpty()) {
      write(exchange);
    } else {
      tell(exchange);
    }
  }

  private static void read(Exchange exchange) throws InterruptedException {
    var listing = exchange.results("list_files").getLast();
    if (!listing.success()) {
      exchange.say("I could not list the files: " + listing.result().asString() + ".");
      return;
    }
    var files = files(listing.result());
    if (files.isEmpty()) {
      exchange.say(NONE);
      return;
    }
    exchange.think(
        ThoughtType.OBSERVATION, Verbosity.NORMAL, "I read: " + String.join(", ", files));
    files.forEach(file -> exchange.call("read_file", "path", file));
  }

  private static void gather(Exchange exchange) throws InterruptedException {
    var usable = usable(exchange);
    if (usable.isEmpty()) {
      exchange.say("There is nothing to summarise. " + String.join(" ", skipped(exchange)));
      return;
    }
    var arguments =
        Json.object().put("name", "csv-rows").put("description", "All rows of the CSV files");
    usable.forEach(arguments.putArray("files")::add);
    exchange.think(
        ThoughtType.STRATEGY, Verbosity.NORMAL, "I put all rows into one dataset and count there.");
    exchange.call("dataset", arguments);
  }

  private static void write(Exchange exchange) throws InterruptedException {
    var dataset = exchange.results("dataset").getLast();
    if (!dataset.success()) {
      exchange.say("I could not put the rows together: " + dataset.result().asString() + ".");
      return;
    }
    var files = dataset.result().path("files").valueStream().toList();
    var data = Json.object().put("rows", dataset.result().path("rows").asInt());
    files.forEach(data.putArray("files")::add);
    var record =
        Json.object().put("name", "csv-summary").put("description", "What the CSV files hold");
    record.set("data", data);
    exchange.call("data", record);
    exchange.call(
        "report",
        Json.object()
            .put("name", "csv-report.md")
            .put("description", "Summary of the CSV files")
            .put("content", Markdown.csvReport(files, skipped(exchange))));
  }

  private static void tell(Exchange exchange) throws InterruptedException {
    var dataset = exchange.results("dataset").getLast().result();
    var files = dataset.path("files").valueStream().toList();
    var text = new StringBuilder();
    text.append("I have summarised ").append(amount(files.size(), "CSV file"));
    text.append(" with ").append(amount(dataset.path("rows").asInt(), "row")).append(" in all.\n");
    files.forEach(file -> text.append("\n- ").append(finding(file)));
    skipped(exchange).forEach(reason -> text.append("\n- ").append(reason));
    text.append(
        "\n\nThe rows are in the dataset csv-rows, the figures in the record csv-summary, ");
    text.append("and the report is csv-report.md.");
    exchange.say(text.toString());
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
            Markdown.columns(file),
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

  private static List<String> usable(Exchange exchange) {
    return exchange.results("read_file").stream()
        .filter(CsvSummary::readable)
        .map(result -> result.result().path("path").asString())
        .toList();
  }

  private static boolean readable(Part.Returned result) {
    return result.success() && !result.result().path("content").asString("").isBlank();
  }

  private static List<String> skipped(Exchange exchange) {
    var skipped = new ArrayList<String>();
    for (var result : exchange.results("read_file")) {
      if (!result.success()) {
        skipped.add("A file could not be read: " + result.result().asString() + ".");
      } else if (!readable(result)) {
        skipped.add(result.result().path("path").asString() + " is empty.");
      }
    }
    var found = exchange.results("list_files").getLast().result().path("entries").size();
    if (found > FILES_MAX) {
      skipped.add("Only the first " + FILES_MAX + " of " + found + " files were read.");
    }
    return skipped;
  }

  private static String amount(int count, String thing) {
    return count + " " + thing + (count == 1 ? "" : "s");
  }
}
