package dev.parley.model;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One attempt at a question failed. `passing` says that the task may succeed later, `again` that the model is asked
/// again now; `retryAfter` is how long the provider asks to wait before that.
final class ModelFailure extends Exception {

  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String text;
  private final boolean passing;
  private final boolean again;
  private final transient @Nullable Duration retryAfter;
  private final boolean malformed;

  private ModelFailure(
      ErrorCode code, String text, boolean passing, boolean again, @Nullable Duration retryAfter) {
    this(code, text, passing, again, retryAfter, false);
  }

  private ModelFailure(
      ErrorCode code,
      String text,
      boolean passing,
      boolean again,
      @Nullable Duration retryAfter,
      boolean malformed) {
    super(text);
    this.code = code;
    this.text = text;
    this.passing = passing;
    this.again = again;
    this.retryAfter = retryAfter;
    this.malformed = malformed;
  }

  /// One that will not pass.
  static ModelFailure lasting(ErrorCode code, String text) {
    return new ModelFailure(code, text, false, false, null);
  }

  /// One that may be gone the next time.
  static ModelFailure passing(ErrorCode code, String text) {
    return new ModelFailure(code, text, true, true, null);
  }

  /// One that may be gone the next time, but has cost so much time that somebody else must decide.
  static ModelFailure slow(String text) {
    return new ModelFailure(ErrorCode.TIMEOUT, text, true, false, null);
  }

  /// The model answered, but not in the form that was asked for. A wait does not help, and many attempts do not either.
  static ModelFailure malformed(String text) {
    return new ModelFailure(ErrorCode.MODEL_ERROR, text, true, true, null, true);
  }

  ModelFailure after(@Nullable Duration asked) {
    return new ModelFailure(code, text, passing, again, asked);
  }

  /// The same, if the provider says whether another attempt makes sense.
  ModelFailure again(@Nullable Boolean wanted) {
    return wanted == null
        ? this
        : new ModelFailure(code, text, passing || wanted, wanted, retryAfter);
  }

  ErrorCode code() {
    return code;
  }

  /// The reason, without the key.
  String text(ModelSettings settings) {
    return settings.clean(text);
  }

  boolean malformed() {
    return malformed;
  }

  boolean again() {
    return again;
  }

  @Nullable Duration retryAfter() {
    return retryAfter;
  }

  Reply.Failed reply(ModelSettings settings, @Nullable Usage usage) {
    return new Reply.Failed(code, text(settings), passing, usage);
  }
}
