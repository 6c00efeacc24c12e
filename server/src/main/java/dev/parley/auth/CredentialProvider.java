package dev.parley.auth;

import dev.parley.auth.Credential.CredentialKind;
import dev.parley.auth.Credential.TokenRenewal;
import dev.parley.auth.TokenClient.TokenParser;
import dev.parley.auth.TokenClient.TokenReply;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/// Returns the credentials of people who have signed in, and renews expired tokens. Safe for many
/// threads.
public final class CredentialProvider {

  private static final System.Logger LOG = System.getLogger(CredentialProvider.class.getName());

  /// A token that expires within this time is renewed now, because it might expire in transit.
  private static final Duration LEEWAY = Duration.ofSeconds(30);

  /// A token that is rejected this soon after its renewal is removed instead of renewed again.
  private static final Duration RENEWAL_AGE_MIN = Duration.ofSeconds(60);

  private static final Duration PAUSE = Duration.ofSeconds(30);

  private record CredentialOwner(String owner, String provider) {}

  private final Vault vault;
  private final TokenClient client;
  // One renewal at a time for each owner and provider: a refresh token may be valid only once.
  private final Map<CredentialOwner, ReentrantLock> renewing = new ConcurrentHashMap<>();
  private final Map<CredentialOwner, Instant> failed = new ConcurrentHashMap<>();

  CredentialProvider(Vault vault, TokenClient client) {
    this.vault = vault;
    this.client = client;
  }

  /// Returns the key that `owner` gave for exactly this host (with its port if that is not the
  /// default one).
  public Optional<String> key(String owner, String host) {
    return vault
        .find(CredentialKind.KEY, owner, host)
        .filter(credential -> credential.isValid(now()))
        .map(Credential::secret);
  }

  /// Returns the access token that `owner` has for `provider`. An expired token is renewed first,
  /// which may take seconds.
  public Optional<String> token(String owner, String provider) {
    var credentialOwner = new CredentialOwner(owner, provider);
    var found = find(credentialOwner);
    if (found.isEmpty() || found.get().isValid(now().plus(LEEWAY))) {
      return found.map(Credential::secret);
    }
    return renewed(credentialOwner).map(Credential::secret);
  }

  /// Records that the provider rejected the token, so that it is not used again.
  public void reject(String owner, String provider) {
    var credential = vault.find(CredentialKind.OAUTH, owner, provider).orElse(null);
    if (credential == null) {
      return;
    }
    var got = credential.renewedAt();
    if (credential.renewal() == null || (got != null && got.plus(RENEWAL_AGE_MIN).isAfter(now()))) {
      vault.remove(CredentialKind.OAUTH, owner, provider);
    } else {
      vault.put(CredentialKind.OAUTH, owner, provider, credential.withoutSecret());
    }
  }

  private Optional<Credential> renewed(CredentialOwner credentialOwner) {
    var lock = renewing.computeIfAbsent(credentialOwner, _ -> new ReentrantLock());
    try {
      lock.lockInterruptibly();
      try {
        var found = find(credentialOwner);
        return found.isEmpty() || found.get().isValid(now().plus(LEEWAY))
            ? found
            : renew(credentialOwner, found.get());
      } finally {
        lock.unlock();
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private Optional<Credential> renew(CredentialOwner credentialOwner, Credential old)
      throws InterruptedException {
    var still = Optional.of(old).filter(credential -> credential.isValid(now()));
    var tokenRenewal = old.renewal();
    var pause = failed.get(credentialOwner);
    if (tokenRenewal == null || (pause != null && pause.isAfter(now()))) {
      return still;
    }
    var tokenReply =
        client.token(tokenRenewal.tokenEndpoint(), tokenRenewal.client(), parameters(tokenRenewal));
    return switch (tokenReply) {
      case TokenReply.TokenSuccess(var json) -> {
        var fresh = TokenParser.read(json, tokenRenewal, now());
        fresh.ifPresent(credential -> put(credentialOwner, credential));
        yield fresh.or(() -> still);
      }
      case TokenReply.TokenRefusal(var error) -> {
        if (error.equals("invalid_grant") || error.equals("invalid_client")) {
          LOG.log(
              Level.INFO,
              "{0} must sign in to {1} again",
              credentialOwner.owner(),
              credentialOwner.provider());
          vault.remove(CredentialKind.OAUTH, credentialOwner.owner(), credentialOwner.provider());
          yield Optional.empty();
        }
        failed.put(credentialOwner, now().plus(PAUSE));
        yield still;
      }
      case TokenReply.EndpointUnreachable _ -> {
        failed.put(credentialOwner, now().plus(PAUSE));
        yield still;
      }
    };
  }

  private void put(CredentialOwner credentialOwner, Credential credential) {
    failed.remove(credentialOwner);
    vault.put(
        CredentialKind.OAUTH, credentialOwner.owner(), credentialOwner.provider(), credential);
  }

  private static Map<String, String> parameters(TokenRenewal tokenRenewal) {
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("grant_type", "refresh_token");
    parameters.put("refresh_token", tokenRenewal.refreshToken());
    if (!tokenRenewal.scopes().isEmpty()) {
      parameters.put("scope", String.join(" ", tokenRenewal.scopes()));
    }
    if (tokenRenewal.resource() != null) {
      parameters.put("resource", tokenRenewal.resource());
    }
    return parameters;
  }

  private Optional<Credential> find(CredentialOwner credentialOwner) {
    return vault.find(CredentialKind.OAUTH, credentialOwner.owner(), credentialOwner.provider());
  }

  private Instant now() {
    return vault.sources().clock().instant();
  }
}
