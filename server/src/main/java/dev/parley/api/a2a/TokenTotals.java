package dev.parley.api.a2a;

import dev.parley.protocol.ReportEvent.Usage;
import tools.jackson.databind.node.ObjectNode;

/// The tokens that a task's model calls used in total. For one thread.
final class TokenTotals {

  private long input;
  private long output;

  void add(Usage usage) {
    input += usage.allInputTokens();
    output += usage.outputTokens();
  }

  /// Adds the totals to a task's metadata, unless they are zero.
  void write(ObjectNode metadata) {
    if (input + output > 0) {
      metadata
          .putObject("kagent_usage_metadata")
          .put("promptTokenCount", input)
          .put("candidatesTokenCount", output)
          .put("totalTokenCount", input + output);
    }
  }
}
