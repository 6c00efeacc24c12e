package dev.parley.protocol;

import org.jspecify.annotations.Nullable;

/// Who is responsible for a task and its subtasks: the principal who sent the message. `tenant` and
/// `credential` (the id of an API key) are null if the principal has none.
public record TaskAccount(String principal, @Nullable String tenant, @Nullable String credential) {

  /// The name of the tenant of all who have no other.
  public static final String DEFAULT_TENANT = "default";

  /// The name of the tenant.
  public String tenantName() {
    return tenant == null ? DEFAULT_TENANT : tenant;
  }

  /// A principal without a tenant and without a key.
  public static TaskAccount of(String principal) {
    return new TaskAccount(principal, null, null);
  }
}
