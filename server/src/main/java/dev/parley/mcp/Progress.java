package dev.parley.mcp;

import dev.parley.mcp.Exchange.News.Moved;
import dev.parley.protocol.Json;
import dev.parley.tool.ToolContext;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// Converts the progress notifications of a server to progress of a tool call.
final class Progress {

  private static final int MESSAGE_MAX = 1_000;
  // Without a total, this count is shown as half of the work.
  private static final double HALF = 10;

  private Progress() {}

  static Optional<Moved> of(JsonNode params) {
    var progress = params.path("progress").asDouble(-1);
    var total = params.path("total").asDouble(0);
    var message = params.path("message").asString("");
    return Double.isFinite(progress) && progress >= 0
        ? Optional.of(
            new Moved(
                progress,
                Double.isFinite(total) && total > 0 ? total : null,
                message.isEmpty() ? null : Text.cut(message, MESSAGE_MAX)))
        : Optional.empty();
  }

  static void tell(Moved moved, ToolContext context) {
    var done = moved.progress();
    var total = moved.total();
    if (total == null) {
      context.progress(done / (done + HALF), moved.message());
    } else if (whole(done) && whole(total)) {
      var steps =
          Json.object().put("stepsCompleted", (long) done).put("stepsTotal", total.longValue());
      context.progress(Math.min(1, done / total), moved.message(), steps);
    } else {
      context.progress(Math.min(1, done / total), moved.message());
    }
  }

  private static boolean whole(double number) {
    return number == Math.rint(number) && number < Long.MAX_VALUE;
  }
}
