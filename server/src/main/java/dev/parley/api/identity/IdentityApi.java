package dev.parley.api.identity;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Route;
import dev.parley.identity.AccessPolicy;
import dev.parley.identity.Identities;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The API for keys, people and shared contexts: all its routes.
public final class IdentityApi {

  private final List<Route> routes = new ArrayList<>();

  /// @param publicUrl where browsers reach the server, for the links of invitations
  public IdentityApi(
      ApiDependencies parts,
      AccessPolicy accessPolicy,
      Identities identities,
      Optional<String> publicUrl) {
    var administration = new Administration(parts.approvals(), accessPolicy);
    routes.addAll(new KeyRoutes(identities.keys(), administration).routes());
    routes.addAll(new PeopleRoutes(identities, administration).routes());
    routes.addAll(new InvitationRoutes(identities, administration, publicUrl).routes());
    routes.addAll(new ContextShareRoutes(parts, identities.shares()).routes());
    routes.addAll(new PersonRoutes(identities).routes());
  }

  /// The routes.
  public List<Route> routes() {
    return List.copyOf(routes);
  }
}
