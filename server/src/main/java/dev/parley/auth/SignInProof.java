package dev.parley.auth;

/// The credential that a person submits to sign in.
public sealed interface SignInProof {

  /// The credential in plain text.
  record PlainCredential(String credential) implements SignInProof {
    @Override
    public String toString() {
      return "a credential";
    }
  }

  /// The credential as a compact JWE, encrypted with the one-time key of the sign-in.
  record EncryptedCredential(String jwe) implements SignInProof {
    @Override
    public String toString() {
      return "an encrypted credential";
    }
  }
}
