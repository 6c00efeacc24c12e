package dev.parley.model;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// The arguments of a tool call, as a model wrote them.
///
/// Models write JSON that is none, or are cut off in the middle of it. That must not end a run: such a
/// call has arguments that say what is wrong, and whoever makes calls tells the model so, instead of
/// calling the tool.
public final class ToolArguments {

  private static final String UNREADABLE = "$unreadable";
  private static final int SHOWN_MAX = 200;

  private ToolArguments() {}

  /// What `text` says; nothing is an empty object.
  static ObjectNode read(String text) {
    if (text.isBlank()) {
      return Json.object();
    }
    try {
      return Whole.object(Json.read(text.getBytes(StandardCharsets.UTF_8), ObjectNode.class));
    } catch (Rejection.Invalid broken) {
      var shown = Failures.shown(Whole.text(text), SHOWN_MAX);
      return Json.object().put(UNREADABLE, shown);
    }
  }

  /// Why a tool must not be called with these arguments, in words for the model; usually it may be.
  public static Optional<String> problem(ObjectNode arguments) {
    var text = arguments.get(UNREADABLE);
    return text == null
        ? Optional.empty()
        : Optional.of("the arguments are not a JSON object, and were: " + text.asString());
  }
}
