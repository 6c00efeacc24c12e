package dev.parley.identity.oidc;

import dev.parley.identity.Role;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How people sign in with an OpenID provider.
///
/// @param name what the page calls the provider
/// @param groupsClaim the claim with the groups of a person; null if the provider says nothing about
///     groups, and administrators of Parley give roles
/// @param roles the roles by group; [#EVERYONE] stands for everybody who can sign in
/// @param emailDomains the domains of verified addresses that may sign in; empty for all
public record OidcSettings(
    String issuer,
    String clientId,
    @Nullable String clientSecret,
    List<String> scopes,
    String name,
    @Nullable String groupsClaim,
    Map<String, Set<Role>> roles,
    String tenant,
    Set<String> emailDomains) {

  /// The key in `roles` for everybody.
  public static final String EVERYONE = "*";

  public OidcSettings {
    scopes = List.copyOf(scopes);
    roles = Map.copyOf(roles);
    emailDomains = Set.copyOf(emailDomains);
  }

  /// Never shows the secret.
  @Override
  public String toString() {
    return "sign-in with " + issuer;
  }
}
