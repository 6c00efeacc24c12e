package dev.parley.auth;

import dev.parley.auth.Credential.CredentialKind;
import dev.parley.auth.Credential.RegisteredClient;
import dev.parley.auth.PendingSignIn.OAuthFlowState;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
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
public final class SignIns implements SignInRequests {

  static final String CALLBACK = "/oauth/callback";
  private static final int CREDENTIAL_MAX = 16 * 1024;
  private static final Duration ADDRESS_PATIENCE = Duration.ofSeconds(10);

  private final Vault vault;
  private final Map<String, RegisteredClient> registered;
  private final TokenClient client;
  private final Time time;
  private final CredentialProvider credentials;
  private final OAuthFlow flows;
  private final Set<SignInId> busy = ConcurrentHashMap.newKeySet();
  // Guarded by this object's monitor, on which callers also wait for it.
  private @Nullable String address;

  /// `registered` has Parley's client registrations that were made in advance, by provider.
  public SignIns(
      Vault vault, Map<String, RegisteredClient> registered, TokenClient client, Time time) {
    this.vault = vault;
    this.time = time;
    this.client = client;
    this.registered = Map.copyOf(registered);
    this.credentials = new CredentialProvider(vault, client);
    this.flows = new OAuthFlow(vault, client);
  }

  /// Returns the cipher for this purpose.
  public VaultCipher cipher(String purpose) {
    return VaultCipher.of(vault, purpose);
  }

  /// Returns the provider of stored credentials.
  public CredentialProvider credentials() {
    return credentials;
  }

  /// Sets the URL at which browsers reach this server. Sign-ins with OAuth need it.
  public synchronized void setPublicUrl(String url) {
    address = url;
    notifyAll();
  }

  @Override
  public SignInInstructions prepare(SignInDetails signInDetails) throws InterruptedException {
    var server =
        CredentialKind.of(signInDetails.type()) == CredentialKind.OAUTH
            ? AuthorizationServer.of(signInDetails.metadata()).orElse(null)
            : null;
    try {
      if (server != null) {
        return prepareOAuth(server, signInDetails);
      }
      return CredentialKind.of(signInDetails.type()) == CredentialKind.OAUTH
          ? SignInRequests.passThrough().prepare(signInDetails)
          : prepareWithKey(signInDetails);
    } catch (Rejection.Busy | Rejection.Unavailable impossible) {
      throw new Rejection.Invalid("cannot sign in now: " + impossible.getMessage());
    }
  }

  private SignInInstructions prepareWithKey(SignInDetails signInDetails) {
    var key = OneTimeKey.generate(signInDetails.place(), vault.sources().random());
    vault.put(pending(signInDetails, key.privateText(), null));
    var metadata = Json.object();
    metadata.set("encryptionKey", key.publicJson());
    return new SignInInstructions(signInDetails.authUrl(), metadata);
  }

  private SignInInstructions prepareOAuth(AuthorizationServer server, SignInDetails signInDetails)
      throws InterruptedException {
    client.check(server.tokenEndpoint());
    var redirectUri = redirectUri();
    var known = client(server, signInDetails, redirectUri);
    var random = vault.sources().random();
    var oAuthFlowState =
        new OAuthFlowState(
            Pkce.secret(random),
            Pkce.secret(random),
            server.issuer(),
            server.tokenEndpoint(),
            known,
            redirectUri,
            server.resource(),
            signInDetails.scopes());
    vault.put(pending(signInDetails, null, oAuthFlowState));
    var challenge = Pkce.challenge(oAuthFlowState.verifier());
    var metadata =
        Json.object()
            .put("authorizationEndpoint", server.authorizationEndpoint())
            .put("clientId", known.id())
            .put("codeChallenge", challenge)
            .put("codeChallengeMethod", "S256");
    return new SignInInstructions(authUrl(server, oAuthFlowState, challenge), metadata);
  }

  private static PendingSignIn pending(
      SignInDetails signInDetails, @Nullable String key, @Nullable OAuthFlowState oAuthFlowState) {
    return new PendingSignIn(
        signInDetails.place(),
        signInDetails.owner(),
        signInDetails.provider(),
        signInDetails.expiresAt(),
        key,
        oAuthFlowState);
  }

  private static String authUrl(
      AuthorizationServer server, OAuthFlowState oAuthFlowState, String challenge) {
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("response_type", "code");
    parameters.put("client_id", oAuthFlowState.client().id());
    parameters.put("redirect_uri", oAuthFlowState.redirectUri());
    if (!oAuthFlowState.scopes().isEmpty()) {
      parameters.put("scope", String.join(" ", oAuthFlowState.scopes()));
    }
    parameters.put("state", oAuthFlowState.state());
    parameters.put("code_challenge", challenge);
    parameters.put("code_challenge_method", "S256");
    if (oAuthFlowState.resource() != null) {
      parameters.put("resource", oAuthFlowState.resource());
    }
    var endpoint = server.authorizationEndpoint();
    return endpoint + (endpoint.contains("?") ? "&" : "?") + TokenClient.query(parameters);
  }

  /// Returns Parley's client at the server, from the configuration, the tool's metadata or an
  /// earlier registration. Otherwise registers a new one.
  private RegisteredClient client(
      AuthorizationServer server, SignInDetails signInDetails, String redirectUri)
      throws InterruptedException {
    var agreed = signInDetails.provider() == null ? null : registered.get(signInDetails.provider());
    if (agreed != null) {
      return agreed;
    }
    if (server.clientId() != null) {
      return new RegisteredClient(server.clientId(), null, false);
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
    var made = client.register(server.registrationEndpoint(), redirectUri, signInDetails.scopes());
    vault.change(now -> now.withClients(all -> all.put(name, made)));
    return made;
  }

  private synchronized String redirectUri() throws InterruptedException {
    var deadline = time.deadline(ADDRESS_PATIENCE);
    while (address == null) {
      if (time.remaining(deadline) <= 0) {
        throw new Rejection.Invalid("cannot sign in now: this server has no public URL yet");
      }
      time.waitUntil(this, deadline);
    }
    return address + CALLBACK;
  }

  /// Accepts a credential that a person submits.
  ///
  /// @throws Rejection.Invalid `invalid-credential` if it cannot be used; the sign-in stays open
  /// @throws Rejection.Conflict if the request is no longer open, or another submission is in
  ///     progress
  public void accept(SignInId signInId, SignInProof signInProof, String principal, SignInLog log) {
    exclusively(
        signInId,
        () -> {
          var requestedSignIn = log.requested(signInId);
          var credential = checked(secret(signInId, signInProof));
          vault.put(
              CredentialKind.of(requestedSignIn.type()),
              requestedSignIn.owner(),
              requestedSignIn.provider(),
              Credential.of(credential));
          finish(signInId, principal, null, log);
          return true;
        });
  }

  private String secret(SignInId signInId, SignInProof signInProof) {
    return switch (signInProof) {
      case SignInProof.PlainCredential(var credential) -> credential;
      case SignInProof.EncryptedCredential(var jwe) ->
          vault
              .pending(signInId)
              .map(PendingSignIn::privateKey)
              .map(OneTimeKey::parse)
              .orElseThrow(
                  () ->
                      new Rejection.Invalid(
                          "invalid-credential", "this sign-in has no key, or it has expired"))
              .decrypt(jwe, signInId, vault.sources().clock().instant());
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
  public boolean callback(OAuthFlow.OAuthCallback oAuthCallback, SignInLog log)
      throws InterruptedException {
    var pendingSignIn = flows.find(oAuthCallback).orElse(null);
    if (pendingSignIn == null) {
      return false;
    }
    var signInId = pendingSignIn.place();
    try {
      return exclusively(
          signInId,
          () -> {
            var requestedSignIn = log.requested(signInId);
            var credential = flows.exchange(pendingSignIn, oAuthCallback.code());
            if (credential.isEmpty()) {
              return false;
            }
            vault.put(
                CredentialKind.OAUTH,
                requestedSignIn.owner(),
                requestedSignIn.provider(),
                credential.get());
            finish(signInId, pendingSignIn.owner(), credential.get().expiresAt(), log);
            return true;
          });
    } catch (Rejection.Conflict | Rejection.NotFound | Rejection.Gone settled) {
      return false;
    }
  }

  private void finish(
      SignInId signInId, String principal, @Nullable Instant expiresAt, SignInLog log) {
    ObjectNode metadata = Json.object();
    if (expiresAt != null) {
      metadata.put("expiresAt", expiresAt.toString());
    }
    log.complete(signInId, principal, metadata);
    vault.remove(signInId);
  }

  private interface Work<X extends Throwable> {
    boolean run() throws X;
  }

  /// Rejects all but one of several concurrent submissions for the same sign-in.
  private <X extends Throwable> boolean exclusively(SignInId signInId, Work<X> work) throws X {
    if (!busy.add(signInId)) {
      throw new Rejection.Conflict(
          "not-wanted", "another submission for this sign-in is in progress");
    }
    try {
      return work.run();
    } finally {
      busy.remove(signInId);
    }
  }

  /// The credential that a person submits to sign in.
  public sealed interface SignInProof {

    /// The credential in plain text.
    record PlainCredential(String credential) implements SignInProof {
      @Override
      public String toString() {
        return "a credential";
      }
    }

    /// The credential as a compact JWE, encrypted with the one-time key of the sign-in.
    record EncryptedCredential(String jwe) implements SignInProof {
      @Override
      public String toString() {
        return "an encrypted credential";
      }
    }
  }

  /// Reads and completes the sign-in requests in the log.
  public interface SignInLog {

    /// A requested sign-in; `owner` will own the credential.
    record RequestedSignIn(String owner, String provider, AuthType type) {}

    /// Returns the request.
    ///
    /// @throws Rejection.NotFound if there never was such a request
    /// @throws Rejection.Conflict if the request is no longer open
    RequestedSignIn requested(SignInId signInId);

    /// Records that the person signed in. Returns when that is durable.
    ///
    /// @throws Rejection.Conflict if the request is no longer open
    void complete(SignInId signInId, String principal, ObjectNode metadata);
  }

  /// Proof Key for Code Exchange (RFC 7636): proves that the same client began and completes an
  /// OAuth flow.
  static final class Pkce {

    private static final int BYTES = 32;
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private Pkce() {}

    /// Returns 256 random bits, for a verifier or a state.
    static String secret(SecureRandom random) {
      var bytes = new byte[BYTES];
      random.nextBytes(bytes);
      return BASE64.encodeToString(bytes);
    }

    /// Returns the challenge for a verifier, with the method S256.
    static String challenge(String verifier) {
      try {
        var digest = MessageDigest.getInstance("SHA-256");
        return BASE64.encodeToString(digest.digest(verifier.getBytes(StandardCharsets.US_ASCII)));
      } catch (NoSuchAlgorithmException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }
}
