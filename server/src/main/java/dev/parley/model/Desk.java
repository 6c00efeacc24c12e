package dev.parley.model;

import dev.parley.model.Prompt.Part;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/// Requests that the offline model fulfills with one tool: it calls the tool, then describes the
/// result.
final class Desk {

  interface Telling {
    String of(Part.Returned result);
  }

  private Desk() {}

  static void read(Exchange exchange, String file) throws InterruptedException {
    once(exchange, "read_file", Json.object().put("path", file), result -> shown(file, result));
  }

  static void list(Exchange exchange) throws InterruptedException {
    once(
        exchange,
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

  static void search(Exchange exchange, String text) throws InterruptedException {
    once(
        exchange,
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

  static void calculate(Exchange exchange, String expression) throws InterruptedException {
    once(
        exchange,
        "calculator",
        Json.object().put("expression", expression.strip()),
        result -> expression.strip() + " = " + result.result().path("value").asString());
  }

  static void time(Exchange exchange) throws InterruptedException {
    once(
        exchange,
        "clock",
        Json.object(),
        result -> "It is " + result.result().path("time").asString() + ".");
  }

  static void report(Exchange exchange, String subject) throws InterruptedException {
    var arguments =
        Json.object()
            .put("name", "report.md")
            .put("description", "A report on " + subject)
            .put("content", Markdown.report(subject));
    once(
        exchange,
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
  static void loop(Exchange exchange) throws InterruptedException {
    if (exchange.has("clock")) {
      exchange.call("clock", Json.object());
    } else {
      exchange.say("I need the tool `clock` to go round in circles, and do not have it.");
    }
  }

  static void once(Exchange exchange, String tool, ObjectNode arguments, Telling telling)
      throws InterruptedException {
    var results = exchange.results(tool);
    if (!exchange.has(tool)) {
      exchange.say("I need the tool `" + tool + "` for that, and do not have it.");
    } else if (results.isEmpty()) {
      exchange.think(ThoughtType.DECISION, Verbosity.BRIEF, "I use the tool " + tool + ".");
      exchange.call(tool, arguments);
    } else if (results.getLast().success()) {
      exchange.say(telling.of(results.getLast()));
    } else {
      exchange.say("That did not work: " + results.getLast().result().asString() + ".");
    }
  }

  private static String shown(String file, Part.Returned result) {
    var content = result.result().path("content").asString();
    if (content.isEmpty()) {
      return file + " is empty.";
    }
    var more = result.result().has("nextOffset") ? "\n\nThere is more; this is how it begins." : "";
    return "This is " + file + ":\n\n" + content.stripTrailing() + more;
  }
}
