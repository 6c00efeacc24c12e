package dev.parley.offline;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Requests that the offline model fulfills with tools that have side effects or need a person.
final class OfflineActions {

  private static final Pattern IN_BACKTICKS = Pattern.compile("`([^`]+)`");

  private OfflineActions() {}

  /// Runs the command exactly as written: a quote or a dot at its end may matter.
  static void run(OfflineTurn offlineTurn) throws InterruptedException {
    var said = OfflinePhrases.after("run", offlineTurn.request());
    var quoted = IN_BACKTICKS.matcher(said);
    var command = quoted.matches() ? quoted.group(1) : said;
    OfflineTools.once(
        offlineTurn,
        "shell",
        Json.object().put("command", command),
        result -> {
          var code = "`%s` ended with exit code %d".formatted(command, code(result.result()));
          var output = result.result().path("output").asString("").stripTrailing();
          return output.isEmpty() ? code + " and said nothing." : code + ":\n\n" + output;
        });
  }

  /// Calls any tool by name, with arguments as JSON.
  static void use(OfflineTurn offlineTurn, String tool, String json) throws InterruptedException {
    ObjectNode arguments;
    try {
      arguments = Json.read(json.getBytes(StandardCharsets.UTF_8), ObjectNode.class);
    } catch (Rejection.Invalid notJson) {
      offlineTurn.writeText(
          "The arguments of a tool are a JSON object, such as {\"text\": \"hello\"}.");
      return;
    }
    OfflineTools.once(
        offlineTurn, tool, arguments, result -> tool + " answered: " + text(result.result()));
  }

  static void ask(OfflineTurn offlineTurn) throws InterruptedException {
    OfflineTools.once(
        offlineTurn,
        "ask_user",
        Json.object().put("question", OfflinePhrases.after("ask me", offlineTurn.request())),
        result -> "You answered: " + text(result.result().path("answer")));
  }

  static void signIn(OfflineTurn offlineTurn, String service) throws InterruptedException {
    OfflineTools.once(
        offlineTurn,
        "sign_in",
        Json.object().put("service", service),
        _ -> "You are signed in to " + service + ".");
  }

  static void write(OfflineTurn offlineTurn, String content, String file)
      throws InterruptedException {
    OfflineTools.once(
        offlineTurn,
        "write_file",
        Json.object().put("path", file).put("content", OfflinePhrases.bare(content) + "\n"),
        result ->
            "I have written %s:\n\n%s"
                .formatted(
                    result.result().path("path").asString(file),
                    result.result().path("diff").asString("").stripTrailing()));
  }

  static void fetch(OfflineTurn offlineTurn, String url) throws InterruptedException {
    OfflineTools.once(
        offlineTurn,
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
