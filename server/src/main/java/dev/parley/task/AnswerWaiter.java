package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Position;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// Waits for the answer to a question, on the thread that asked it.
final class AnswerWaiter {

  private static final int PAGE = 1_000;
  private static final Duration WAIT = Duration.ofMinutes(1);

  private AnswerWaiter() {}

  /// The answer to the question `input`, read from the log after the position `asked`; empty if the
  /// question lapsed.
  static Optional<JsonNode> awaitAnswer(
      EventLog log, ContextId context, Position asked, InputId input) throws InterruptedException {
    var position = asked;
    while (true) {
      for (var page = log.read(context, position, PAGE);
          !page.isEmpty();
          page = log.read(context, position, PAGE)) {
        for (var entry : page) {
          if (entry.event() instanceof InputReceived received && received.inputId().equals(input)) {
            return Optional.ofNullable(received.value());
          }
          if (entry.event() instanceof InputLapsed lapsed && lapsed.inputId().equals(input)) {
            return Optional.empty();
          }
        }
        position = page.getLast().position();
      }
      log.await(context, position, WAIT);
    }
  }
}
