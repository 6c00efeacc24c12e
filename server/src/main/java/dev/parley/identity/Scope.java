package dev.parley.identity;

import java.util.Locale;

/// What a credential permits.
public enum Scope {
  /// To read contexts.
  READ,
  /// To create and change contexts, to send messages and to answer questions.
  WRITE,
  /// To approve tool calls and to sign in for agents.
  APPROVE,
  /// To administer people, groups, keys and, with the right role, the server.
  ADMINISTER;

  /// The name on the wire.
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
