package dev.parley.audit;

import java.time.Instant;
import java.util.Optional;

/// Which records to read. An empty text is no filter; `target` and `action` may end with `*`.
///
/// @param after only records after this number, oldest first; absent for the newest first
/// @param before only records before this number
public record AuditQuery(
    String principal,
    String tenant,
    String action,
    String target,
    String result,
    Optional<Instant> since,
    Optional<Instant> until,
    Optional<Long> after,
    Optional<Long> before,
    int limit) {

  /// All records after this one, oldest first.
  public static AuditQuery after(long number, int limit) {
    return new AuditQuery(
        "",
        "",
        "",
        "",
        "",
        Optional.empty(),
        Optional.empty(),
        Optional.of(number),
        Optional.empty(),
        limit);
  }
}
