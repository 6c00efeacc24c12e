package dev.parley.http;

import dev.parley.audit.AuditEvent.Actor;
import java.util.Optional;

/// The actor of the request or socket that the current thread serves.
///
/// Only the audit trail uses it: it records who caused an event of the log, and from where. Nothing
/// is decided by it.
public final class CurrentCaller {

  static final ScopedValue<Actor> ACTOR = ScopedValue.newInstance();

  private CurrentCaller() {}

  /// The actor; empty on a thread that serves no request.
  public static Optional<Actor> actor() {
    return ACTOR.isBound() ? Optional.of(ACTOR.get()) : Optional.empty();
  }
}
