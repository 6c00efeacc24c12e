package dev.parley.vault;

/// The credential that a person submits to sign in.
public sealed interface Proof {

  /// The credential in plain text.
  record Plain(String credential) implements Proof {
    @Override
    public String toString() {
      return "a credential";
    }
  }

  /// The credential as a compact JWE, encrypted with the one-time key of the sign-in.
  record Encrypted(String jwe) implements Proof {
    @Override
    public String toString() {
      return "an encrypted credential";
    }
  }
}
