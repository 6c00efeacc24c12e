package dev.parley.door.a2a;

import dev.parley.protocol.ReportEvent.Usage;
import tools.jackson.databind.node.ObjectNode;

/// What the models of a task used: sums over all calls. For one thread.
final class Spent {

  private long input;
  private long output;

  void add(Usage usage) {
    input += usage.allInputTokens();
    output += usage.outputTokens();
  }

  /// Puts the sums into a task's metadata, if there are any.
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
