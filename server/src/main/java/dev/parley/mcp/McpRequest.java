package dev.parley.mcp;

import dev.parley.protocol.Json;
import dev.parley.runtime.Time;
import dev.parley.tool.ToolContext;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A pending request: one thread waits for its result, others add the messages of the server.
///
/// The lock guards the messages. Only the last report of progress is kept.
final class McpRequest {

  private static final int QUESTIONS_MAX = 20;

  /// A message of the server about the request.
  sealed interface RequestEvent {
    record ProgressReported(double progress, @Nullable Double total, @Nullable String message)
        implements RequestEvent {

      private static final int MESSAGE_MAX = 1_000;
      // Without a total, this count is shown as half of the work.
      private static final double HALF = 10;

      /// Reads the parameters of a progress notification.
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

      /// Reports it as progress of a tool call.
      void report(ToolContext context) {
        if (total == null) {
          context.progress(progress / (progress + HALF), message);
        } else if (whole(progress) && whole(total)) {
          var steps =
              Json.object()
                  .put("stepsCompleted", (long) progress)
                  .put("stepsTotal", total.longValue());
          context.progress(Math.min(1, progress / total), message, steps);
        } else {
          context.progress(Math.min(1, progress / total), message);
        }
      }

      private static boolean whole(double number) {
        return number == Math.rint(number) && number < Long.MAX_VALUE;
      }
    }

    record QuestionAsked(Elicitation question) implements RequestEvent {}

    record ResultReceived(JsonNode result) implements RequestEvent {}

    record RequestFailed(McpFailure trouble) implements RequestEvent {}

    record RequestTimedOut() implements RequestEvent {}
  }

  private final long id;
  private final Time time;
  private final @Nullable ToolContext context;
  private final Deque<Elicitation> questions = new ArrayDeque<>();
  private RequestEvent.@Nullable ProgressReported progressReported;
  private @Nullable RequestEvent end;
  private int asked;

  McpRequest(long id, @Nullable ToolContext context, Time time) {
    this.time = time;
    this.id = id;
    this.context = context;
  }

  long id() {
    return id;
  }

  /// The context of the tool call, if the request is one.
  Optional<ToolContext> context() {
    return Optional.ofNullable(context);
  }

  synchronized void setProgress(RequestEvent.ProgressReported progress) {
    progressReported = progress;
    notifyAll();
  }

  /// Adds a question. False if there were too many, or the request has ended.
  synchronized boolean addQuestion(Elicitation question) {
    if (end != null || ++asked > QUESTIONS_MAX) {
      return false;
    }
    questions.add(question);
    notifyAll();
    return true;
  }

  synchronized void complete(JsonNode result) {
    end(new RequestEvent.ResultReceived(result));
  }

  synchronized void fail(McpFailure mcpFailure) {
    end(new RequestEvent.RequestFailed(mcpFailure));
  }

  private void end(RequestEvent requestEvent) {
    if (end == null) {
      end = requestEvent;
      notifyAll();
    }
  }

  /// Waits for the next message.
  synchronized RequestEvent next(Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    while (true) {
      if (progressReported != null) {
        var latest = progressReported;
        progressReported = null;
        return latest;
      }
      if (end != null) {
        return end;
      }
      if (!questions.isEmpty()) {
        return new RequestEvent.QuestionAsked(questions.remove());
      }
      if (time.remaining(deadline) <= 0) {
        return new RequestEvent.RequestTimedOut();
      }
      time.waitUntil(this, deadline);
    }
  }
}
