package dev.parley.a2a;

/// A request or a response failed with an A2A error.
public final class A2aException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final A2aError error;

  public A2aException(A2aError error, String message) {
    // No stack trace: this becomes a response.
    super(message, null, false, false);
    this.error = error;
  }

  public A2aError error() {
    return error;
  }

  /// Invalid parameters.
  public static A2aException invalid(String message) {
    return new A2aException(A2aError.INVALID_PARAMS, message);
  }
}
