package dev.parley.agent;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.tool.Answer;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What the log says of one tool call of a turn. Written by [Story] only; for one thread.
final class CallStory {

  /// Why something was asked for a call.
  enum Purpose {
    /// May it run?
    APPROVAL,
    /// It said that it needs this.
    NEED,
    /// It may have run before a crash: is it to run again?
    DOUBT,
    /// It asks while it goes on, and waits.
    LIVE
  }

  /// What was asked last, and the answer if there is one. `consulted` once an agent above was asked.
  record Question(
      String id,
      Purpose purpose,
      boolean auth,
      boolean requireUser,
      boolean consulted,
      @Nullable Answer answer) {

    boolean open() {
      return answer == null;
    }

    Question answered(Answer given) {
      return new Question(id, purpose, auth, requireUser, consulted, given);
    }

    Question consulting() {
      return new Question(id, purpose, auth, requireUser, true, answer);
    }
  }

  private final ToolCall call;
  private final Map<TaskId, Optional<SubtaskComplete>> children = new LinkedHashMap<>();
  private @Nullable ToolStart start;
  private @Nullable Question question;
  private @Nullable ToolComplete end;
  private int attempts;
  private int starts;
  private int retries;
  private @Nullable Instant startedAt;
  private double progress;
  private boolean left;
  private int askedAt;

  CallStory(ToolCall call) {
    this.call = call;
  }

  /// What the model asked for.
  ToolCall call() {
    return call;
  }

  boolean started() {
    return start != null;
  }

  /// What the tool was called with, which a person may have changed.
  ObjectNode arguments() {
    return start == null ? call.arguments() : start.arguments();
  }

  Optional<SubagentMetadata> subagents() {
    return Optional.ofNullable(start).map(ToolStart::subagentMetadata);
  }

  /// What was said of the call when it started.
  ObjectNode startMetadata() {
    return start == null || start.metadata() == null ? Json.object() : start.metadata();
  }

  Optional<Question> question() {
    return Optional.ofNullable(question);
  }

  Optional<ToolComplete> end() {
    return Optional.ofNullable(end);
  }

  /// How often the tool was called.
  int attempts() {
    return attempts;
  }

  /// How often the tool was called since it last came back and said that it needs something.
  int starts() {
    return starts;
  }

  /// How often the tool was called again because it was cut off, once it is called this time. To be called again with an
  /// answer is no retry.
  int retries() {
    return retries + (start != null && !left ? 1 : 0);
  }

  /// When the call started, if it has.
  Optional<Instant> startedAt() {
    return Optional.ofNullable(startedAt);
  }

  double progress() {
    return progress;
  }

  /// True if what was asked last is about the last time that the tool was called.
  boolean current() {
    return askedAt == attempts;
  }

  /// True if the last time that the tool was called, it came back and said that it needs something.
  boolean left() {
    return left;
  }

  /// The tasks that it spawned, and how those ended that have.
  Map<TaskId, Optional<SubtaskComplete>> children() {
    return children;
  }

  void begin(ToolStart started, Instant at) {
    start = started;
    startedAt = at;
    retries = 0;
    attempts = 1;
    starts = 1;
    left = false;
  }

  void again(int attempt) {
    if (attempt <= attempts) {
      return;
    }
    attempts = attempt;
    starts++;
    retries += left ? 0 : 1;
    left = false;
  }

  void progress(double now) {
    progress = Math.max(progress, now);
  }

  void ask(Question asked) {
    question = asked;
    askedAt = attempts;
    if (asked.purpose() == Purpose.NEED) {
      left = true;
      starts = 0;
    }
  }

  void consult() {
    if (question != null) {
      question = question.consulting();
    }
  }

  void answer(Answer given) {
    if (question != null) {
      question = question.answered(given);
    }
  }

  void end(ToolComplete ended) {
    end = ended;
  }
}
