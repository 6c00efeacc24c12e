package dev.parley.task;

import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.WireName;

/// What happens to a task when its question expires without an answer.
public enum WhenLapsed implements WireName {
  /// The tool call that asked fails, and the agent continues without the answer.
  CONTINUE,
  /// The task fails.
  FAIL;

  /// The choice for a question, which overrides the default.
  static WhenLapsed of(QuestionFacts question, WhenLapsed usual) {
    return question
        .whenLapsed()
        .flatMap(wanted -> WireName.find(WhenLapsed.class, wanted))
        .orElse(usual);
  }
}
