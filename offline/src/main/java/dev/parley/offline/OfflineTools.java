package dev.parley.offline;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/// Requests that the offline model fulfills with one tool: it calls the tool, then describes the
/// result.
final class OfflineTools {

  interface ResultDescription {
    String of(PromptPart.PromptToolResult result);
  }

  private OfflineTools() {}

  static void read(OfflineTurn offlineTurn, String file) throws InterruptedException {
    once(offlineTurn, "read_file", Json.object().put("path", file), result -> shown(file, result));
  }

  static void list(OfflineTurn offlineTurn) throws InterruptedException {
    once(
        offlineTurn,
        "list_files",
        Json.object(),
        result -> {
          var entries = result.result().path("entries");
          return entries.isEmpty()
              ? "There are no files here."
              : "These files are here:\n\n"
                  + entries
                      .valueStream()
                      .map(entry -> "- " + entry.path("path").asString())
                      .collect(Collectors.joining("\n"));
        });
  }

  static void search(OfflineTurn offlineTurn, String text) throws InterruptedException {
    once(
        offlineTurn,
        "search_files",
        Json.object().put("text", text),
        result -> {
          var matches = result.result().path("matches");
          return matches.isEmpty()
              ? "I did not find \"" + text + "\" in the files here."
              : "I found \""
                  + text
                  + "\" here:\n\n"
                  + matches
                      .valueStream()
                      .map(
                          match ->
                              "- "
                                  + match.path("path").asString()
                                  + ":"
                                  + match.path("line").asInt()
                                  + ": "
                                  + match.path("text").asString().strip())
                      .collect(Collectors.joining("\n"));
        });
  }

  static void calculate(OfflineTurn offlineTurn, String expression) throws InterruptedException {
    once(
        offlineTurn,
        "calculator",
        Json.object().put("expression", expression.strip()),
        result -> expression.strip() + " = " + result.result().path("value").asString());
  }

  static void time(OfflineTurn offlineTurn) throws InterruptedException {
    once(
        offlineTurn,
        "clock",
        Json.object(),
        result -> "It is " + result.result().path("time").asString() + ".");
  }

  static void report(OfflineTurn offlineTurn, String subject) throws InterruptedException {
    var arguments =
        Json.object()
            .put("name", "report.md")
            .put("description", "A report on " + subject)
            .put("content", OfflineReports.report(subject));
    once(
        offlineTurn,
        "report",
        arguments,
        result ->
            "I have written a report on "
                + subject
                + ": "
                + result.result().path("artifactId").asString()
                + ", version "
                + result.result().path("version").asInt()
                + ".");
  }

  /// Calls a tool again and again, until a limit of the agent loop stops it.
  static void loop(OfflineTurn offlineTurn) throws InterruptedException {
    if (offlineTurn.has("clock")) {
      offlineTurn.call("clock", Json.object());
    } else {
      offlineTurn.writeText("I need the tool `clock` to go round in circles, and do not have it.");
    }
  }

  static void once(
      OfflineTurn offlineTurn,
      String tool,
      ObjectNode arguments,
      ResultDescription resultDescription)
      throws InterruptedException {
    var results = offlineTurn.results(tool);
    if (!offlineTurn.has(tool)) {
      offlineTurn.writeText("I need the tool `" + tool + "` for that, and do not have it.");
    } else if (results.isEmpty()) {
      offlineTurn.think(ThoughtType.DECISION, Verbosity.BRIEF, "I use the tool " + tool + ".");
      offlineTurn.call(tool, arguments);
    } else if (results.getLast().success()) {
      offlineTurn.writeText(resultDescription.of(results.getLast()));
    } else {
      offlineTurn.writeText("That did not work: " + results.getLast().result().asString() + ".");
    }
  }

  private static String shown(String file, PromptPart.PromptToolResult result) {
    var content = result.result().path("content").asString();
    if (content.isEmpty()) {
      return file + " is empty.";
    }
    var more = result.result().has("nextOffset") ? "\n\nThere is more; this is how it begins." : "";
    return "This is " + file + ":\n\n" + content.stripTrailing() + more;
  }
}
