package dev.parley.agent;

import dev.parley.model.Prompt.Part;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.StringNode;

/// Keeps a prompt within a number of tokens: omits the oldest tool results first. Omitted results
/// stay in the log.
final class Budget {

  /// The newest results are never omitted: the model has just asked for them.
  private static final int KEPT = 4;

  private Budget() {}

  static List<Part> fit(List<Part> parts, int tokensMax) {
    var size = parts.stream().mapToLong(Budget::size).sum();
    if (size <= tokensMax) {
      return parts;
    }
    var results = parts.stream().filter(Part.Returned.class::isInstance).count();
    var fitted = new ArrayList<Part>();
    for (var part : parts) {
      if (part instanceof Part.Returned returned && results-- > KEPT && size > tokensMax) {
        var note = "[left out to save space: about " + size(returned) + " tokens]";
        fitted.add(
            new Part.Returned(
                returned.call(), returned.tool(), returned.success(), StringNode.valueOf(note)));
        size -= size(returned) - TokenCount.of(note);
      } else {
        fitted.add(part);
      }
    }
    return fitted;
  }

  private static long size(Part part) {
    return switch (part) {
      case Part.Said said -> TokenCount.of(said.text());
      case Part.Asked asked -> TokenCount.of(asked.text());
      case Part.Returned returned -> TokenCount.of(returned.result().toString());
    };
  }
}
