package dev.parley.model;

import java.util.ArrayList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Replaces unpaired surrogates, which JSON can contain and UTF-8 cannot.
final class SurrogateRepair {

  private static final char LOST = '\uFFFD';

  private SurrogateRepair() {}

  static String text(String text) {
    for (var i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i)) && !paired(text, i)) {
        return repaired(text);
      }
    }
    return text;
  }

  /// Returns the object with all its texts repaired.
  static ObjectNode object(ObjectNode object) {
    for (var name : new ArrayList<>(object.propertyNames())) {
      var value = node(object.get(name));
      object.remove(name);
      object.set(text(name), value);
    }
    return object;
  }

  private static JsonNode node(JsonNode node) {
    return switch (node) {
      case StringNode string -> StringNode.valueOf(text(string.stringValue()));
      case ObjectNode object -> object(object);
      case ArrayNode array -> {
        for (var i = 0; i < array.size(); i++) {
          array.set(i, node(array.get(i)));
        }
        yield array;
      }
      default -> node;
    };
  }

  private static boolean paired(String text, int i) {
    return Character.isHighSurrogate(text.charAt(i))
        ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
        : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
  }

  private static String repaired(String text) {
    var mended = new StringBuilder(text);
    for (var i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i)) && !paired(text, i)) {
        mended.setCharAt(i, LOST);
      }
    }
    return mended.toString();
  }
}
