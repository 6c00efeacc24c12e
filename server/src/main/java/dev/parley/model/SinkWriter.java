package dev.parley.model;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ReportEvent.ErrorCode;
import org.jspecify.annotations.Nullable;

/// Writes a model's output to a sink, without unpaired surrogates.
///
/// If a schema was requested, the answer is written as a whole, and only if it matches. For one
/// thread.
final class SinkWriter {

  private static final String PARAGRAPH = "\n\n";
  private static final int SHOWN_MAX = 100;
  private static final String LOST = "\uFFFD";

  private final ModelSink modelSink;
  private final @Nullable AnswerSchema form;
  private final StringBuilder answer = new StringBuilder();
  private final SurrogateJoiner texts = new SurrogateJoiner();
  private final SurrogateJoiner thoughts = new SurrogateJoiner();
  private boolean thinking;
  private int length;

  SinkWriter(ModelSink modelSink, @Nullable AnswerSchema form) {
    this.modelSink = modelSink;
    this.form = form;
  }

  /// Returns how many characters of text were written to the sink.
  int length() {
    return length;
  }

  void text(String piece) throws InterruptedException {
    if (form == null) {
      writeText(texts.next(piece));
    } else {
      answer.append(piece);
    }
  }

  void thinking(String piece) throws InterruptedException {
    writeThinking(thoughts.next(piece));
  }

  /// Separates the next thought from the previous one.
  void separateThought() throws InterruptedException {
    if (thinking) {
      writeThinking(PARAGRAPH);
    }
  }

  /// Sets the answer that was received as a call of the answer tool.
  void answer(String json) {
    answer.setLength(0);
    answer.append(json);
  }

  /// Completes the output.
  ///
  /// @throws ModelFailure if the answer ended early without text, or does not match the schema
  void finish(FinishReason reason, boolean calls) throws ModelFailure, InterruptedException {
    writeText(texts.rest());
    writeThinking(thoughts.rest());
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
      writeText(fitting.get());
    } else if (reason == FinishReason.LENGTH) {
      throw ModelFailure.permanent(
          ErrorCode.LIMIT, "the model's answer was cut off before it was complete: see maxTokens");
    } else if (reason == FinishReason.CONTENT_FILTER || reason == FinishReason.REFUSAL) {
      writeText(answer.toString());
    } else {
      throw ModelFailure.malformed(
          "the model's answer is not the JSON that was requested: "
              + ModelFailures.shown(answer.toString(), SHOWN_MAX));
    }
  }

  /// Fails if the answer ended early: without text, it would look like an intentionally empty one.
  private static void checkNotEmpty(FinishReason reason) throws ModelFailure {
    switch (reason) {
      case LENGTH ->
          throw ModelFailure.permanent(
              ErrorCode.LIMIT, "the model's answer was cut off before any text: see maxTokens");
      case CONTENT_FILTER ->
          throw ModelFailure.permanent(
              ErrorCode.MODEL_ERROR,
              "the provider's content filter stopped the answer before any text");
      case REFUSAL ->
          throw ModelFailure.permanent(
              ErrorCode.REJECTED, "the model refused to answer and gave no reason");
      case STOP, TOOL_CALLS, INTERRUPTED, CANCELED -> {} // An empty answer may be intended.
    }
  }

  private void writeText(String text) throws InterruptedException {
    if (!text.isEmpty()) {
      thinking = false;
      length += text.length();
      modelSink.text(text);
    }
  }

  private void writeThinking(String text) throws InterruptedException {
    if (!text.isEmpty()) {
      thinking = true;
      modelSink.thinking(text);
    }
  }

  /// Joins surrogate pairs that were split: some servers split between `\ud83d` and `\ude00`.
  private static final class SurrogateJoiner {
    private String held = "";

    String next(String piece) {
      var text = held + piece;
      held = "";
      if (!text.isEmpty() && Character.isHighSurrogate(text.charAt(text.length() - 1))) {
        held = text.substring(text.length() - 1);
        text = text.substring(0, text.length() - 1);
      }
      return SurrogateRepair.text(text);
    }

    String rest() {
      return held.isEmpty() ? "" : LOST;
    }
  }
}
