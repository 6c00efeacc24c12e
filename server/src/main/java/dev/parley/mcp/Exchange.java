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
final class Exchange {

  private static final int QUESTIONS_MAX = 20;

  /// A message of the server about the request.
  sealed interface News {
    record Moved(double progress, @Nullable Double total, @Nullable String message)
        implements News {}

    record Asked(Elicitation question) implements News {}

    record Answered(JsonNode result) implements News {}

    record Failed(Trouble trouble) implements News {}

    record Silence() implements News {}
  }

  private final long id;
  private final @Nullable ToolContext context;
  private final Deque<Elicitation> questions = new ArrayDeque<>();
  private News.@Nullable Moved moved;
  private @Nullable News end;
  private int asked;

  Exchange(long id, @Nullable ToolContext context) {
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

  synchronized void move(News.Moved progress) {
    moved = progress;
    notifyAll();
  }

  /// Adds a question. False if there were too many, or the request has ended.
  synchronized boolean ask(Elicitation question) {
    if (end != null || ++asked > QUESTIONS_MAX) {
      return false;
    }
    questions.add(question);
    notifyAll();
    return true;
  }

  synchronized void answer(JsonNode result) {
    end(new News.Answered(result));
  }

  synchronized void fail(Trouble trouble) {
    end(new News.Failed(trouble));
  }

  private void end(News news) {
    if (end == null) {
      end = news;
      notifyAll();
    }
  }

  /// Waits for the next message.
  synchronized News next(Duration patience) throws InterruptedException {
    var deadline = System.nanoTime() + patience.toNanos();
    while (true) {
      if (moved != null) {
        var latest = moved;
        moved = null;
        return latest;
      }
      if (end != null) {
        return end;
      }
      if (!questions.isEmpty()) {
        return new News.Asked(questions.remove());
      }
      var millis = (deadline - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        return new News.Silence();
      }
      wait(millis);
    }
  }
}
