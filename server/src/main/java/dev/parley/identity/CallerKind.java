package dev.parley.identity;

/// How a caller has identified itself.
public enum CallerKind {
  /// No credential is required: a person at the server's own machine.
  LOCAL,
  /// No credential was sent, although one is required. Only public paths serve such a caller.
  ANONYMOUS,
  /// A token of the configuration (`auth.tokens`).
  TOKEN,
  /// An API key of a program.
  KEY,
  /// A person who has signed in.
  PERSON,
  /// A link that shares one context for reading.
  LINK
}
