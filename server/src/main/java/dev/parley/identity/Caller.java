package dev.parley.identity;

import java.net.InetAddress;
import java.util.EnumSet;
import java.util.Set;

/// Who sends a request, and what the credential of the request permits.
///
/// @param principal the name that the log records, and that owns contexts
/// @param tenant the tenant of the principal; [#DEFAULT_TENANT] if there is only one
/// @param groups the names of the principal's groups
/// @param credential the id of the credential, such as `key:k1`; unique, and not secret
/// @param address the client's address
public record Caller(
    String principal,
    CallerKind kind,
    String tenant,
    Set<String> groups,
    Set<Role> roles,
    Grant grant,
    String credential,
    InetAddress address) {

  /// The principal of every caller when no credential is required.
  public static final String LOCAL = "local";

  /// The tenant of everybody who belongs to no other tenant.
  public static final String DEFAULT_TENANT = "default";

  /// What a credential permits: scopes, and the agents and contexts that it is limited to. An empty
  /// set of agents or contexts is no limit.
  public record Grant(Set<Scope> scopes, Set<String> agents, Set<String> contexts) {

    /// Everything.
    public static final Grant ALL = new Grant(EnumSet.allOf(Scope.class), Set.of(), Set.of());

    public Grant {
      scopes = Set.copyOf(scopes);
      agents = Set.copyOf(agents);
      contexts = Set.copyOf(contexts);
    }

    /// These scopes, without other limits.
    public static Grant of(Set<Scope> scopes) {
      return new Grant(scopes, Set.of(), Set.of());
    }
  }

  public Caller {
    groups = Set.copyOf(groups);
    roles = Set.copyOf(roles);
  }

  /// The person at the server's own machine, who may do everything.
  public static Caller local(InetAddress address) {
    return new Caller(
        LOCAL,
        CallerKind.LOCAL,
        DEFAULT_TENANT,
        Set.of(),
        Set.of(Role.OWNER, Role.OPERATOR),
        Grant.ALL,
        LOCAL,
        address);
  }

  /// A caller that has sent no credential although one is required.
  public static Caller anonymous(InetAddress address) {
    return new Caller(
        LOCAL,
        CallerKind.ANONYMOUS,
        DEFAULT_TENANT,
        Set.of(),
        Set.of(),
        Grant.of(Set.of()),
        "anonymous",
        address);
  }

  /// The holder of a token of the configuration.
  public static Caller token(String name, boolean administer, InetAddress address) {
    return new Caller(
        name,
        CallerKind.TOKEN,
        DEFAULT_TENANT,
        Set.of(),
        administer ? Set.of(Role.OWNER, Role.OPERATOR) : Set.of(Role.MEMBER),
        administer ? Grant.ALL : Grant.of(Role.scopes(Set.of(Role.MEMBER))),
        "token:" + name,
        address);
  }

  /// True if the credential permits this.
  public boolean has(Scope scope) {
    return grant.scopes().contains(scope);
  }

  public boolean is(Role role) {
    return roles.contains(role);
  }

  /// True if the caller operates the server. Tokens of the configuration have always done so.
  public boolean operator() {
    return switch (kind) {
      case LOCAL, TOKEN -> true;
      case KEY, PERSON -> is(Role.OPERATOR) && has(Scope.ADMINISTER);
      case ANONYMOUS, LINK -> false;
    };
  }

  /// True if the server itself has issued the credential, and can revoke it.
  public boolean revocable() {
    return switch (kind) {
      case KEY, PERSON, LINK -> true;
      case LOCAL, ANONYMOUS, TOKEN -> false;
    };
  }
}
