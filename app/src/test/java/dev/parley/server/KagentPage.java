package dev.parley.server;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/// What kagent's chat page (0.9 and 0.10) shows of a stream of A2A 0.3.
///
/// Written after what that page does: text is shown while it is written only if it is marked as partial, and stays
/// only if it comes once more as a whole; tools are agents if their name has a namespace; a question is a card only if
/// it comes as the call of a certain function.
final class KagentPage {

  /// What stands on the page, in order.
  final List<Card> cards = new ArrayList<>();

  /// The text that is being written.
  String live = "";

  /// Everything that [#live] ever was.
  final List<String> lives = new ArrayList<>();

  boolean ready;

  sealed interface Card {}

  record KagentText(String text) implements Card {}

  record KagentToolCall(String id, String name) implements Card {}

  record AgentCall(String id, String name, String session) implements Card {}

  record Result(String id, String text, boolean error, String session) implements Card {}

  record Approval(String callId, String tool, JsonNode arguments, String subagent)
      implements Card {}

  record Question(String id, String text) implements Card {}

  <T extends Card> List<T> all(Class<T> kind) {
    return cards.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  void take(JsonNode item) {
    switch (item.path("kind").asString()) {
      case "task" -> ready = false;
      case "status-update" -> status(item);
      case "artifact-update" -> artifact(item);
      default -> throw new AssertionError("kagent's page does not know " + item);
    }
  }

  private void status(JsonNode update) {
    var message = update.path("status").path("message");
    var last = update.path("final").asBoolean(false);
    if (update.path("status").path("state").asString().equals("input-required")) {
      var asked = message.path("parts").valueStream().filter(KagentPage::isConfirmation).toList();
      if (!asked.isEmpty()) {
        asked.forEach(part -> cards.add(question(part.path("data"))));
        return;
      }
    }
    if (!message.path("role").asString().equals("user")) {
      message.path("parts").forEach(part -> said(part, last));
    }
    if (last) {
      write("");
      ready = true;
    }
  }

  private void said(JsonNode part, boolean last) {
    if (part.path("kind").asString().equals("data")) {
      function(part);
    } else if (last) {
      cards.add(new KagentText(part.path("text").asString()));
    } else {
      write(live + part.path("text").asString(""));
    }
  }

  private static boolean isConfirmation(JsonNode part) {
    return marked(part, "type").asString("").equals("function_call")
        && marked(part, "is_long_running").asBoolean(false)
        && part.path("data").path("name").asString().equals("adk_request_confirmation");
  }

  private static Card question(JsonNode data) {
    var call = data.path("args").path("originalFunctionCall");
    var id = call.path("id").asString(data.path("id").asString());
    if (call.path("name").asString().equals("ask_user")) {
      return new Question(
          id, call.path("args").path("questions").get(0).path("question").asString());
    }
    var payload = data.path("args").path("toolConfirmation").path("payload");
    return new Approval(
        id,
        call.path("name").asString(),
        call.path("args"),
        payload.path("subagent_name").asString(""));
  }

  /// True if the part is the call or the result of a function; then it is shown.
  private boolean function(JsonNode part) {
    var data = part.path("data");
    var id = data.path("id").asString();
    var name = data.path("name").asString();
    var agent = name.contains("__NS__");
    var type = marked(part, "type").asString("");
    if (type.equals("function_response")) {
      var response = data.path("response");
      var session = agent ? response.path("subagent_session_id").asString("") : "";
      var text = response.path("result").asString(response.path("result").toString());
      cards.add(new Result(id, text, response.path("isError").asBoolean(false), session));
      return true;
    }
    if (!type.equals("function_call")) {
      return false;
    }
    if (!name.equals("adk_request_confirmation") && !name.equals("adk_request_credential")) {
      var shown = name.replaceFirst("__NS__", "/").replace('_', '-');
      var session = marked(part, "subagent_session_id").asString("");
      cards.add(agent ? new AgentCall(id, shown, session) : new KagentToolCall(id, name));
    }
    return true;
  }

  private void artifact(JsonNode update) {
    var text = new StringBuilder();
    for (var part : update.path("artifact").path("parts")) {
      switch (part.path("kind").asString()) {
        case "text" -> text.append(part.path("text").asString());
        case "file" -> text.append("[File: ").append(part.path("file").path("name").asString());
        default -> {
          if (!function(part)) {
            text.append(part.path("data"));
          }
        }
      }
    }
    var partial = marked(update, "partial");
    if (update.path("lastChunk").asBoolean(false)
        || (partial.isBoolean() && !partial.booleanValue())) {
      write("");
      if (!text.isEmpty()) {
        cards.add(new KagentText(text.toString()));
      }
    } else if (partial.asBoolean(false)) {
      write(live + text);
    }
  }

  private void write(String text) {
    if (!text.equals(live)) {
      live = text;
      lives.add(text);
    }
  }

  /// A value of the metadata, with ADK's prefix or else kagent's.
  private static JsonNode marked(JsonNode item, String key) {
    var metadata = item.path("metadata");
    return metadata.has("adk_" + key)
        ? metadata.path("adk_" + key)
        : metadata.path("kagent_" + key);
  }
}
