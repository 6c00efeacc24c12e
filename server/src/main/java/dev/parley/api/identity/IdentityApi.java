package dev.parley.api.identity;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Route;
import dev.parley.identity.AccessPolicy;
import dev.parley.identity.Identities;
import dev.parley.identity.oidc.OidcSignIn;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The API for keys, people and shared contexts: all its routes.
public final class IdentityApi {

  private final List<Route> routes = new ArrayList<>();

  /// @param publicUrl where browsers reach the server, for the links of invitations and sign-ins
  /// @param oidc the sign-in with an OpenID provider, if one is configured
  public IdentityApi(
      ApiDependencies parts,
      AccessPolicy accessPolicy,
      Identities identities,
      Optional<String> publicUrl,
      Optional<OidcSignIn> oidc) {
    var administration = new Administration(parts.approvals(), accessPolicy);
    routes.addAll(new KeyRoutes(identities.keys(), administration).routes());
    routes.addAll(new PeopleRoutes(identities, administration).routes());
    routes.addAll(new InvitationRoutes(identities, administration, publicUrl).routes());
    routes.addAll(new PersonSignInRoutes(identities, administration, publicUrl, oidc).routes());
    routes.addAll(new ContextShareRoutes(parts, identities.shares()).routes());
    routes.addAll(new PersonRoutes(identities).routes());
  }

  /// The routes.
  public List<Route> routes() {
    return List.copyOf(routes);
  }
}
