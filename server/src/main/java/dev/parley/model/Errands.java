package dev.parley.model;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Requests that the offline model fulfills with tools that have side effects or need a person.
final class Errands {

  private static final Pattern IN_BACKTICKS = Pattern.compile("`([^`]+)`");

  private Errands() {}

  /// Runs the command exactly as written: a quote or a dot at its end may matter.
  static void run(Exchange exchange) throws InterruptedException {
    var said = Speech.after("run", exchange.request());
    var quoted = IN_BACKTICKS.matcher(said);
    var command = quoted.matches() ? quoted.group(1) : said;
    Desk.once(
        exchange,
        "shell",
        Json.object().put("command", command),
        result -> {
          var code = "`%s` ended with exit code %d".formatted(command, code(result.result()));
          var output = result.result().path("output").asString("").stripTrailing();
          return output.isEmpty() ? code + " and said nothing." : code + ":\n\n" + output;
        });
  }

  /// Calls any tool by name, with arguments as JSON.
  static void use(Exchange exchange, String tool, String json) throws InterruptedException {
    ObjectNode arguments;
    try {
      arguments = Json.read(json.getBytes(StandardCharsets.UTF_8), ObjectNode.class);
    } catch (Rejection.Invalid notJson) {
      exchange.say("The arguments of a tool are a JSON object, such as {\"text\": \"hello\"}.");
      return;
    }
    Desk.once(exchange, tool, arguments, result -> tool + " answered: " + text(result.result()));
  }

  static void ask(Exchange exchange) throws InterruptedException {
    Desk.once(
        exchange,
        "ask_user",
        Json.object().put("question", Speech.after("ask me", exchange.request())),
        result -> "You answered: " + text(result.result().path("answer")));
  }

  static void signIn(Exchange exchange, String service) throws InterruptedException {
    Desk.once(
        exchange,
        "sign_in",
        Json.object().put("service", service),
        _ -> "You are signed in to " + service + ".");
  }

  static void write(Exchange exchange, String content, String file) throws InterruptedException {
    Desk.once(
        exchange,
        "write_file",
        Json.object().put("path", file).put("content", Speech.bare(content) + "\n"),
        result ->
            "I have written %s:\n\n%s"
                .formatted(
                    result.result().path("path").asString(file),
                    result.result().path("diff").asString("").stripTrailing()));
  }

  static void fetch(Exchange exchange, String url) throws InterruptedException {
    Desk.once(
        exchange,
        "fetch",
        Json.object().put("url", url),
        result ->
            "%s answered %d:\n\n%s"
                .formatted(
                    result.result().path("url").asString(url),
                    result.result().path("status").asInt(0),
                    result.result().path("body").asString("").stripTrailing()));
  }

  /// Returns a value as text for people.
  static String text(JsonNode value) {
    return value.isString() ? value.asString() : value.toString();
  }

  private static int code(JsonNode result) {
    return result.path("exitCode").asInt(-1);
  }
}
