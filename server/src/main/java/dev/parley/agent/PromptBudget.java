package dev.parley.agent;

import dev.parley.model.Prompt.PromptPart;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.StringNode;

/// Keeps a prompt within a number of tokens: omits the oldest tool results first. Omitted results
/// stay in the log.
final class PromptBudget {

  /// The newest results are never omitted: the model has just asked for them.
  private static final int KEPT = 4;

  private PromptBudget() {}

  static List<PromptPart> fit(List<PromptPart> parts, int tokensMax) {
    var size = parts.stream().mapToLong(PromptBudget::size).sum();
    if (size <= tokensMax) {
      return parts;
    }
    var results = parts.stream().filter(PromptPart.PromptToolResult.class::isInstance).count();
    var fitted = new ArrayList<PromptPart>();
    for (var promptPart : parts) {
      if (promptPart instanceof PromptPart.PromptToolResult promptToolResult
          && results-- > KEPT
          && size > tokensMax) {
        var note = "[left out to save space: about " + size(promptToolResult) + " tokens]";
        fitted.add(
            new PromptPart.PromptToolResult(
                promptToolResult.call(),
                promptToolResult.tool(),
                promptToolResult.success(),
                StringNode.valueOf(note)));
        size -= size(promptToolResult) - TokenEstimate.of(note);
      } else {
        fitted.add(promptPart);
      }
    }
    return fitted;
  }

  private static long size(PromptPart promptPart) {
    return switch (promptPart) {
      case PromptPart.PromptMessage promptMessage -> TokenEstimate.of(promptMessage.text());
      case PromptPart.PromptToolCalls promptToolCalls -> TokenEstimate.of(promptToolCalls.text());
      case PromptPart.PromptToolResult promptToolResult ->
          TokenEstimate.of(promptToolResult.result().toString());
    };
  }
}
