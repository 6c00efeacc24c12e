package dev.parley.identity;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/// What a person does in a tenant. A person can have several roles.
public enum Role {
  /// Administers the tenant: its people, groups, invitations and keys.
  OWNER,
  /// Has contexts of its own, and shares them.
  MEMBER,
  /// Reads contexts that others share.
  VIEWER,
  /// Approves tool calls, also in contexts that it may only read.
  APPROVER,
  /// Operates the server: metrics, all tenants, and the servers of a cluster. Cannot read contexts of
  /// others.
  OPERATOR;

  /// The name on the wire.
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// The roles with these names.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if there is no such role, or none is named
  public static Set<Role> parse(Collection<String> names) {
    return Names.roles(names);
  }

  /// What people with these roles may do.
  public static Set<Scope> scopes(Collection<Role> roles) {
    var all = EnumSet.noneOf(Scope.class);
    roles.forEach(role -> all.addAll(role.scopes()));
    return Set.copyOf(all);
  }

  private Set<Scope> scopes() {
    return switch (this) {
      case OWNER -> EnumSet.allOf(Scope.class);
      case MEMBER -> Set.of(Scope.READ, Scope.WRITE, Scope.APPROVE);
      case VIEWER -> Set.of(Scope.READ);
      case APPROVER -> Set.of(Scope.READ, Scope.APPROVE);
      case OPERATOR -> Set.of(Scope.READ, Scope.ADMINISTER);
    };
  }
}
