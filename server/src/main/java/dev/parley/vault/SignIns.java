package dev.parley.vault;

import dev.parley.net.AddressPolicy;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.vault.Credential.Client;
import dev.parley.vault.Credential.Kind;
import dev.parley.vault.Pending.Flow;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Prepares sign-ins, and stores the credentials that people submit in the vault.
///
/// The credential is stored before the log records the sign-in. If anything fails before that, the
/// sign-in stays open. Safe for many threads.
public final class SignIns implements SignInDesk, AutoCloseable {

  static final String CALLBACK = "/oauth/callback";
  private static final int CREDENTIAL_MAX = 16 * 1024;
  private static final Duration ADDRESS_PATIENCE = Duration.ofSeconds(10);

  private final Vault vault;
  private final Map<String, Client> registered;
  private final TokenClient client;
  private final Bearers bearers;
  private final OAuthFlow flows;
  private final Set<Place> busy = ConcurrentHashMap.newKeySet();
  // Guarded by this object's monitor, on which callers also wait for it.
  private @Nullable String address;

  public SignIns(Vault vault) {
    this(vault, Map.of(), new AddressPolicy(Set.of()));
  }

  /// `registered` has Parley's client registrations that were made in advance, by provider.
  /// `addresses` decides which authorization servers may be contacted.
  public SignIns(Vault vault, Map<String, Client> registered, AddressPolicy addresses) {
    this.vault = vault;
    this.client = new TokenClient(addresses);
    this.registered = Map.copyOf(registered);
    this.bearers = new Bearers(vault, client);
    this.flows = new OAuthFlow(vault, client);
  }

  /// Returns the cipher for this purpose.
  public Seal seal(String purpose) {
    return Seal.of(vault, purpose);
  }

  /// Returns the provider of stored credentials.
  public Bearers bearers() {
    return bearers;
  }

  /// Sets the URL at which browsers reach this server. Sign-ins with OAuth need it.
  public synchronized void reachableAt(String url) {
    address = url;
    notifyAll();
  }

  @Override
  public Invitation invite(Wanted wanted) throws InterruptedException {
    var server =
        Kind.of(wanted.type()) == Kind.OAUTH
            ? AuthorizationServer.of(wanted.metadata()).orElse(null)
            : null;
    try {
      if (server != null) {
        return inviteTo(server, wanted);
      }
      return Kind.of(wanted.type()) == Kind.OAUTH
          ? SignInDesk.bare().invite(wanted)
          : inviteWithKey(wanted);
    } catch (Rejection.Busy | Rejection.Unavailable impossible) {
      throw new Rejection.Invalid("cannot sign in now: " + impossible.getMessage());
    }
  }

  private Invitation inviteWithKey(Wanted wanted) {
    var key = OneTimeKey.fresh(wanted.place(), vault.sources().random());
    vault.put(pending(wanted, key.privateText(), null));
    var metadata = Json.object();
    metadata.set("encryptionKey", key.publicJson());
    return new Invitation(wanted.authUrl(), metadata);
  }

  private Invitation inviteTo(AuthorizationServer server, Wanted wanted)
      throws InterruptedException {
    client.check(server.tokenEndpoint());
    var redirectUri = redirectUri();
    var known = client(server, wanted, redirectUri);
    var random = vault.sources().random();
    var flow =
        new Flow(
            Pkce.secret(random),
            Pkce.secret(random),
            server.issuer(),
            server.tokenEndpoint(),
            known,
            redirectUri,
            server.resource(),
            wanted.scopes());
    vault.put(pending(wanted, null, flow));
    var challenge = Pkce.challenge(flow.verifier());
    var metadata =
        Json.object()
            .put("authorizationEndpoint", server.authorizationEndpoint())
            .put("clientId", known.id())
            .put("codeChallenge", challenge)
            .put("codeChallengeMethod", "S256");
    return new Invitation(authUrl(server, flow, challenge), metadata);
  }

  private static Pending pending(Wanted wanted, @Nullable String key, @Nullable Flow flow) {
    return new Pending(
        wanted.place(), wanted.owner(), wanted.provider(), wanted.expiresAt(), key, flow);
  }

  private static String authUrl(AuthorizationServer server, Flow flow, String challenge) {
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("response_type", "code");
    parameters.put("client_id", flow.client().id());
    parameters.put("redirect_uri", flow.redirectUri());
    if (!flow.scopes().isEmpty()) {
      parameters.put("scope", String.join(" ", flow.scopes()));
    }
    parameters.put("state", flow.state());
    parameters.put("code_challenge", challenge);
    parameters.put("code_challenge_method", "S256");
    if (flow.resource() != null) {
      parameters.put("resource", flow.resource());
    }
    var endpoint = server.authorizationEndpoint();
    return endpoint + (endpoint.contains("?") ? "&" : "?") + TokenClient.query(parameters);
  }

  /// Returns Parley's client at the server, from the configuration, the tool's metadata or an
  /// earlier registration. Otherwise registers a new one.
  private Client client(AuthorizationServer server, Wanted wanted, String redirectUri)
      throws InterruptedException {
    var agreed = wanted.provider() == null ? null : registered.get(wanted.provider());
    if (agreed != null) {
      return agreed;
    }
    if (server.clientId() != null) {
      return new Client(server.clientId(), null, false);
    }
    var name = OAuthFlow.clientName(server.issuer(), redirectUri);
    var known = vault.contents().clients().get(name);
    if (known != null) {
      return known;
    }
    if (server.registrationEndpoint() == null) {
      throw new Rejection.Invalid(
          "the authorization server does not support client registration, and no client id is set;"
              + " set mcpServers.NAME.oauth.clientId in the configuration");
    }
    var made = client.register(server.registrationEndpoint(), redirectUri, wanted.scopes());
    vault.change(now -> now.withClients(all -> all.put(name, made)));
    return made;
  }

  private synchronized String redirectUri() throws InterruptedException {
    var deadline = System.nanoTime() + ADDRESS_PATIENCE.toNanos();
    while (address == null) {
      var millis = (deadline - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        throw new Rejection.Invalid("cannot sign in now: this server has no public URL yet");
      }
      wait(millis);
    }
    return address + CALLBACK;
  }

  /// Accepts a credential that a person submits.
  ///
  /// @throws Rejection.Invalid `invalid-credential` if it cannot be used; the sign-in stays open
  /// @throws Rejection.Conflict if the request is no longer open, or another submission is in
  ///     progress
  public void accept(Place place, Proof proof, String principal, SignInLog log) {
    alone(
        place,
        () -> {
          var asked = log.asked(place);
          var credential = checked(secret(place, proof));
          vault.put(
              Kind.of(asked.type()), asked.owner(), asked.provider(), Credential.of(credential));
          finish(place, principal, null, log);
          return true;
        });
  }

  private String secret(Place place, Proof proof) {
    return switch (proof) {
      case Proof.Plain(var credential) -> credential;
      case Proof.Encrypted(var jwe) ->
          vault
              .pending(place)
              .map(Pending::privateKey)
              .map(OneTimeKey::parse)
              .orElseThrow(
                  () ->
                      new Rejection.Invalid(
                          "invalid-credential", "this sign-in has no key, or it has expired"))
              .decrypt(jwe, place, vault.sources().clock().instant());
    };
  }

  private static String checked(String credential) {
    if (credential.isBlank()
        || credential.length() > CREDENTIAL_MAX
        || credential.chars().anyMatch(Character::isISOControl)) {
      throw new Rejection.Invalid(
          "invalid-credential",
          "a credential has 1 to " + CREDENTIAL_MAX + " characters and no control characters");
    }
    return credential;
  }

  /// Completes an OAuth flow after the browser's redirect. Returns false if the flow is unknown, or
  /// if the person or the authorization server denied it; the request then stays open.
  public boolean callback(OAuthFlow.Returned returned, SignInLog log) throws InterruptedException {
    var pending = flows.find(returned).orElse(null);
    if (pending == null) {
      return false;
    }
    var place = pending.place();
    try {
      return alone(
          place,
          () -> {
            var asked = log.asked(place);
            var credential = flows.exchange(pending, returned.code());
            if (credential.isEmpty()) {
              return false;
            }
            vault.put(Kind.OAUTH, asked.owner(), asked.provider(), credential.get());
            finish(place, pending.owner(), credential.get().expiresAt(), log);
            return true;
          });
    } catch (Rejection.Conflict | Rejection.NotFound | Rejection.Gone settled) {
      return false;
    }
  }

  private void finish(Place place, String principal, @Nullable Instant expiresAt, SignInLog log) {
    ObjectNode metadata = Json.object();
    if (expiresAt != null) {
      metadata.put("expiresAt", expiresAt.toString());
    }
    log.completed(place, principal, metadata);
    vault.remove(place);
  }

  private interface Work<X extends Throwable> {
    boolean run() throws X;
  }

  /// Rejects all but one of several concurrent submissions for the same sign-in.
  private <X extends Throwable> boolean alone(Place place, Work<X> work) throws X {
    if (!busy.add(place)) {
      throw new Rejection.Conflict(
          "not-wanted", "another submission for this sign-in is in progress");
    }
    try {
      return work.run();
    } finally {
      busy.remove(place);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
