package dev.parley.model;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// The arguments of a tool call, as a model wrote them.
///
/// A model may write invalid JSON, or be cut off in the middle. This must not end the run. Such a
/// call gets arguments that describe the error, and the agent returns the error to the model
/// instead of calling the tool.
public final class ToolArguments {

  private static final String UNREADABLE = "$unreadable";
  private static final int SHOWN_MAX = 200;

  private ToolArguments() {}

  /// Parses `text`. An empty text is an empty object.
  static ObjectNode read(String text) {
    if (text.isBlank()) {
      return Json.object();
    }
    try {
      return SurrogateRepair.object(
          Json.read(text.getBytes(StandardCharsets.UTF_8), ObjectNode.class));
    } catch (Rejection.Invalid broken) {
      var shown = ModelFailures.shown(SurrogateRepair.text(text), SHOWN_MAX);
      return Json.object().put(UNREADABLE, shown);
    }
  }

  /// Returns why a tool must not be called with these arguments, as a message for the model. Empty
  /// if they are valid.
  public static Optional<String> problem(ObjectNode arguments) {
    var text = arguments.get(UNREADABLE);
    return text == null
        ? Optional.empty()
        : Optional.of("the arguments are not a JSON object: " + text.asString());
  }
}
