package dev.parley.a2a;

/// A request, or an answer, that A2A has an error for.
public final class A2aException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final A2aError error;

  public A2aException(A2aError error, String message) {
    // No stack trace: this is an answer.
    super(message, null, false, false);
    this.error = error;
  }

  public A2aError error() {
    return error;
  }

  /// One that says what is wrong with the parameters.
  static A2aException invalid(String message) {
    return new A2aException(A2aError.INVALID_PARAMS, message);
  }
}
