package dev.parley.identity;

import java.net.InetAddress;
import java.util.Optional;

/// Finds the callers of credentials that the server itself has issued: API keys, sessions of people,
/// links and tickets. Answers from memory.
@FunctionalInterface
public interface IssuedCredentials {

  /// What all issued credentials begin with. An unknown text
  /// that begins like this was revoked or has expired.
  String PREFIX = "parley_";

  /// Nothing was issued.
  IssuedCredentials NONE = (_, _) -> Optional.empty();

  /// The caller of a credential that is valid now and was sent from this address.
  Optional<Caller> find(String credential, InetAddress from);
}
