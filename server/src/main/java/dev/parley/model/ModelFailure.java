package dev.parley.model;

import dev.parley.protocol.ReportEvent.ErrorCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One attempt at a question failed. `passing` says that the next may do better, `again` that it is worth
/// making at once; `retryAfter` is how long the provider asks to wait before it.
final class ModelFailure extends Exception {

  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String text;
  private final boolean passing;
  private final boolean again;
  private final transient @Nullable Duration retryAfter;

  private ModelFailure(
      ErrorCode code, String text, boolean passing, boolean again, @Nullable Duration retryAfter) {
    super(text);
    this.code = code;
    this.text = text;
    this.passing = passing;
    this.again = again;
    this.retryAfter = retryAfter;
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

  ModelFailure after(@Nullable Duration asked) {
    return new ModelFailure(code, text, passing, again, asked);
  }

  boolean again() {
    return again;
  }

  @Nullable Duration retryAfter() {
    return retryAfter;
  }

  Reply.Failed reply(ModelSettings settings) {
    return new Reply.Failed(code, settings.clean(text), passing);
  }
}
