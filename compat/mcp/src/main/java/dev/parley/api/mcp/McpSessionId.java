package dev.parley.api.mcp;

import java.util.UUID;
import java.util.regex.Pattern;

/// The id of a session. It contains what the client can do, so the server stores no sessions, and
/// sessions continue after a restart and on another server of a cluster.
///
/// @param elicits the client asks its user when the server requests it
record McpSessionId(boolean elicits, String value) {

  private static final Pattern FORM = Pattern.compile("([ep])-[0-9a-f-]{36}");

  /// A session without an id, for clients that send none.
  static final McpSessionId NONE = new McpSessionId(false, "");

  static McpSessionId create(boolean elicits, UUID id) {
    return new McpSessionId(elicits, (elicits ? "e-" : "p-") + id);
  }

  /// Parses the id that a client sends. Any other id is a session that cannot ask.
  static McpSessionId of(String text) {
    var matcher = FORM.matcher(text);
    return matcher.matches() ? new McpSessionId(matcher.group(1).equals("e"), text) : NONE;
  }
}
