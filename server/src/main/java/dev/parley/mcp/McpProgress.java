package dev.parley.mcp;

import dev.parley.mcp.McpRequest.RequestEvent.ProgressReported;
import dev.parley.protocol.Json;
import dev.parley.tool.ToolContext;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// Converts the progress notifications of a server to progress of a tool call.
final class McpProgress {

  private static final int MESSAGE_MAX = 1_000;
  // Without a total, this count is shown as half of the work.
  private static final double HALF = 10;

  private McpProgress() {}

  static Optional<ProgressReported> of(JsonNode params) {
    var progress = params.path("progress").asDouble(-1);
    var total = params.path("total").asDouble(0);
    var message = params.path("message").asString("");
    return Double.isFinite(progress) && progress >= 0
        ? Optional.of(
            new ProgressReported(
                progress,
                Double.isFinite(total) && total > 0 ? total : null,
                message.isEmpty() ? null : BoundedText.cut(message, MESSAGE_MAX)))
        : Optional.empty();
  }

  static void report(ProgressReported progressReported, ToolContext context) {
    var done = progressReported.progress();
    var total = progressReported.total();
    if (total == null) {
      context.progress(done / (done + HALF), progressReported.message());
    } else if (whole(done) && whole(total)) {
      var steps =
          Json.object().put("stepsCompleted", (long) done).put("stepsTotal", total.longValue());
      context.progress(Math.min(1, done / total), progressReported.message(), steps);
    } else {
      context.progress(Math.min(1, done / total), progressReported.message());
    }
  }

  private static boolean whole(double number) {
    return number == Math.rint(number) && number < Long.MAX_VALUE;
  }
}
