package dev.parley.identity.oidc;

/// A sign-in that does not succeed. The message is for the person, and contains nothing secret.
public final class SignInRefused extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String code;

  SignInRefused(String code, String message) {
    super(message);
    this.code = code;
  }

  /// The reason, such as `token-expired`.
  public String code() {
    return code;
  }
}
