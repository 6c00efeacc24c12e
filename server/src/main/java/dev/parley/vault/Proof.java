package dev.parley.vault;

/// What somebody hands in to sign in.
public sealed interface Proof {

  /// The credential itself.
  record Plain(String credential) implements Proof {
    @Override
    public String toString() {
      return "a credential";
    }
  }

  /// The credential, encrypted with the key of the invitation, as a compact JWE.
  record Encrypted(String jwe) implements Proof {
    @Override
    public String toString() {
      return "an encrypted credential";
    }
  }
}
