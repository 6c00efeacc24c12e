package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A page of the audit trail, and the ends of its chain of hashes.
///
/// @param next the number with which to request the next page; null at the end
/// @param anchor the last record that was deleted because of its age; number 0 if none was
/// @param head the newest record; number 0 if there is none
public record AuditPage(
    List<AuditItem> items, @Nullable Long next, AuditPoint anchor, AuditPoint head) {

  public AuditPage {
    items = List.copyOf(items);
  }

  /// A record of the audit trail, and the hash of its text.
  public record AuditItem(String hash, ObjectNode record) {}

  /// The number and the hash of a record.
  public record AuditPoint(long number, String hash) {}
}
