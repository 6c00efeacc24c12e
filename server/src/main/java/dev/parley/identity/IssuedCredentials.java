package dev.parley.identity;

import java.net.InetAddress;
import java.util.Optional;

/// Finds the callers of credentials that the server itself has issued: API keys, sign-ins of people,
/// links and tickets. Answers from memory.
public interface IssuedCredentials {

  /// What all issued credentials begin with. An unknown text that begins like this was revoked or has
  /// expired.
  String PREFIX = "parley_";

  /// The caller of a credential that is valid now and was sent from this address.
  Optional<Caller> find(String credential, InetAddress from);

  /// The caller of a ticket that is valid now for this path.
  Optional<Caller> findTicket(String ticket, String path, InetAddress from);

  /// Ends a sign-in. Other credentials stay valid.
  void signOut(String credential);

  /// Reports credentials that end.
  Revocations revocations();

  /// Nothing was issued.
  static IssuedCredentials none() {
    return new IssuedCredentials() {
      private final Revocations revocations = new Revocations();

      @Override
      public Optional<Caller> find(String credential, InetAddress from) {
        return Optional.empty();
      }

      @Override
      public Optional<Caller> findTicket(String ticket, String path, InetAddress from) {
        return Optional.empty();
      }

      @Override
      public void signOut(String credential) {}

      @Override
      public Revocations revocations() {
        return revocations;
      }
    };
  }
}
