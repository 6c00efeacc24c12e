package dev.parley.model;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ReportEvent.ErrorCode;
import org.jspecify.annotations.Nullable;

/// Hands a sink what a model says, in a form that can be written down.
///
/// If an answer of some form was asked for, it is handed on whole and only if it is one. For one thread.
final class Outlet {

  private static final String PARAGRAPH = "\n\n";
  private static final int SHOWN_MAX = 100;
  private static final String LOST = "\uFFFD";

  private final Sink sink;
  private final @Nullable AnswerForm form;
  private final StringBuilder answer = new StringBuilder();
  private final Pieces texts = new Pieces();
  private final Pieces thoughts = new Pieces();
  private boolean thinking;
  private int length;

  Outlet(Sink sink, @Nullable AnswerForm form) {
    this.sink = sink;
    this.form = form;
  }

  /// How many characters of text the sink was given.
  int length() {
    return length;
  }

  void text(String piece) throws InterruptedException {
    if (form == null) {
      say(texts.next(piece));
    } else {
      answer.append(piece);
    }
  }

  void thinking(String piece) throws InterruptedException {
    think(thoughts.next(piece));
  }

  /// Sets a thought that follows another apart from it.
  void newThought() throws InterruptedException {
    if (thinking) {
      think(PARAGRAPH);
    }
  }

  /// The answer was given as a call of the tool that takes it.
  void answer(String json) {
    answer.setLength(0);
    answer.append(json);
  }

  /// The turn is over.
  ///
  /// @throws ModelFailure if the answer ended early and has no text, or has not the form that was asked for
  void finish(FinishReason reason, boolean calls) throws ModelFailure, InterruptedException {
    say(texts.rest());
    think(thoughts.rest());
    if (calls) {
      return;
    }
    if (length == 0 && answer.toString().isBlank()) {
      checkNotEmpty(reason);
    }
    if (form == null) {
      return;
    }
    var fitting = form.read(answer.toString());
    if (fitting.isPresent()) {
      say(fitting.get());
    } else if (reason == FinishReason.LENGTH) {
      throw ModelFailure.lasting(
          ErrorCode.LIMIT, "the model's answer was cut off before it was whole: see maxTokens");
    } else if (reason == FinishReason.CONTENT_FILTER || reason == FinishReason.REFUSAL) {
      say(answer.toString());
    } else {
      throw ModelFailure.malformed(
          "the model's answer is not the JSON that was asked for: "
              + Failures.shown(answer.toString(), SHOWN_MAX));
    }
  }

  /// Nobody could tell an answer without text from one that is empty on purpose.
  private static void checkNotEmpty(FinishReason reason) throws ModelFailure {
    switch (reason) {
      case LENGTH ->
          throw ModelFailure.lasting(
              ErrorCode.LIMIT, "the model's answer was cut off before any text: see maxTokens");
      case CONTENT_FILTER ->
          throw ModelFailure.lasting(
              ErrorCode.MODEL_ERROR,
              "a filter of the model's provider stopped the answer before any text");
      case REFUSAL ->
          throw ModelFailure.lasting(
              ErrorCode.REJECTED, "the model refused to answer and gave no reason");
      case STOP, TOOL_CALLS, INTERRUPTED, CANCELED -> {} // An empty answer may be meant.
    }
  }

  private void say(String text) throws InterruptedException {
    if (!text.isEmpty()) {
      thinking = false;
      length += text.length();
      sink.text(text);
    }
  }

  private void think(String text) throws InterruptedException {
    if (!text.isEmpty()) {
      thinking = true;
      sink.thinking(text);
    }
  }

  /// Joins characters that were cut in two: some servers cut between `\ud83d` and `\ude00`.
  private static final class Pieces {
    private String held = "";

    String next(String piece) {
      var text = held + piece;
      held = "";
      if (!text.isEmpty() && Character.isHighSurrogate(text.charAt(text.length() - 1))) {
        held = text.substring(text.length() - 1);
        text = text.substring(0, text.length() - 1);
      }
      return Whole.text(text);
    }

    String rest() {
      return held.isEmpty() ? "" : LOST;
    }
  }
}
