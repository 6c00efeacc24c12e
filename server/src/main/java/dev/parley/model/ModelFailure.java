package dev.parley.model;

import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A failed attempt. `passing` is true if the task may succeed later, and `again` if the request is
/// retried now. `retryAfter` is the delay that the provider asks for.
final class ModelFailure extends Exception {

  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final String text;
  private final boolean retryable;
  private final boolean retryNow;
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
    this.retryable = passing;
    this.retryNow = again;
    this.retryAfter = retryAfter;
    this.malformed = malformed;
  }

  /// A permanent failure.
  static ModelFailure permanent(ErrorCode code, String text) {
    return new ModelFailure(code, text, false, false, null);
  }

  /// A failure that a retry may resolve.
  static ModelFailure retryable(ErrorCode code, String text) {
    return new ModelFailure(code, text, true, true, null);
  }

  /// A timeout. The task may succeed later, but it has taken too long for a retry now.
  static ModelFailure timeout(String text) {
    return new ModelFailure(ErrorCode.TIMEOUT, text, true, false, null);
  }

  /// An answer that does not match the schema. Neither a delay nor many retries would help.
  static ModelFailure malformed(String text) {
    return new ModelFailure(ErrorCode.MODEL_ERROR, text, true, true, null, true);
  }

  ModelFailure after(@Nullable Duration asked) {
    return new ModelFailure(code, text, retryable, retryNow, asked);
  }

  /// Returns the failure with the provider's decision on a retry, if there is one.
  ModelFailure retryNow(@Nullable Boolean wanted) {
    return wanted == null
        ? this
        : new ModelFailure(code, text, retryable || wanted, wanted, retryAfter);
  }

  ErrorCode code() {
    return code;
  }

  /// Returns the reason, without the API key.
  String text(ModelSettings settings) {
    return settings.redact(text);
  }

  boolean malformed() {
    return malformed;
  }

  boolean retryNow() {
    return retryNow;
  }

  @Nullable Duration retryAfter() {
    return retryAfter;
  }

  ModelReply.ModelError reply(ModelSettings settings, @Nullable Usage usage) {
    return new ModelReply.ModelError(code, text(settings), retryable, usage);
  }
}
