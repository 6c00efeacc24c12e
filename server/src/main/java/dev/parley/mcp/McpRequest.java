package dev.parley.mcp;

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
        implements RequestEvent {}

    record QuestionAsked(Elicitation question) implements RequestEvent {}

    record ResultReceived(JsonNode result) implements RequestEvent {}

    record RequestFailed(McpFailure trouble) implements RequestEvent {}

    record RequestTimedOut() implements RequestEvent {}
  }

  private final long id;
  private final @Nullable ToolContext context;
  private final Deque<Elicitation> questions = new ArrayDeque<>();
  private RequestEvent.@Nullable ProgressReported progressReported;
  private @Nullable RequestEvent end;
  private int asked;

  McpRequest(long id, @Nullable ToolContext context) {
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
    var deadline = System.nanoTime() + patience.toNanos();
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
      var millis = (deadline - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        return new RequestEvent.RequestTimedOut();
      }
      wait(millis);
    }
  }
}
