package dev.parley.audit;

import java.time.Duration;

/// The configuration of the audit trail.
///
/// @param enabled false to record nothing
/// @param retention the age after which records are deleted; zero to keep all
/// @param required true to refuse acts while they cannot be recorded
public record AuditSettings(boolean enabled, Duration retention, boolean required) {

  /// Records are kept for a year.
  public static final AuditSettings DEFAULTS = new AuditSettings(true, Duration.ofDays(365), false);
}
