package dev.parley.vault;

import dev.parley.vault.Credential.Kind;
import dev.parley.vault.Credential.Renewal;
import dev.parley.vault.TokenClient.Answer;
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
public final class Bearers {

  private static final System.Logger LOG = System.getLogger(Bearers.class.getName());

  /// A token that expires within this time is renewed now, because it might expire in transit.
  private static final Duration LEEWAY = Duration.ofSeconds(30);

  /// A token that is rejected this soon after its renewal is removed instead of renewed again.
  private static final Duration HOPELESS = Duration.ofSeconds(60);

  private static final Duration PAUSE = Duration.ofSeconds(30);

  private record Holder(String owner, String provider) {}

  private final Vault vault;
  private final TokenClient client;
  // One renewal at a time for each owner and provider: a refresh token may be valid only once.
  private final Map<Holder, ReentrantLock> renewing = new ConcurrentHashMap<>();
  private final Map<Holder, Instant> failed = new ConcurrentHashMap<>();

  Bearers(Vault vault, TokenClient client) {
    this.vault = vault;
    this.client = client;
  }

  /// Returns the key that `owner` gave for exactly this host (with its port if that is not the
  /// default one).
  public Optional<String> key(String owner, String host) {
    return vault
        .find(Kind.KEY, owner, host)
        .filter(credential -> credential.good(now()))
        .map(Credential::secret);
  }

  /// Returns the access token that `owner` has for `provider`. An expired token is renewed first,
  /// which may take seconds.
  public Optional<String> token(String owner, String provider) {
    var holder = new Holder(owner, provider);
    var found = find(holder);
    if (found.isEmpty() || found.get().good(now().plus(LEEWAY))) {
      return found.map(Credential::secret);
    }
    return renewed(holder).map(Credential::secret);
  }

  /// Records that the provider rejected the token, so that it is not used again.
  public void reject(String owner, String provider) {
    var credential = vault.find(Kind.OAUTH, owner, provider).orElse(null);
    if (credential == null) {
      return;
    }
    var got = credential.renewedAt();
    if (credential.renewal() == null || (got != null && got.plus(HOPELESS).isAfter(now()))) {
      vault.remove(Kind.OAUTH, owner, provider);
    } else {
      vault.put(Kind.OAUTH, owner, provider, credential.spent());
    }
  }

  private Optional<Credential> renewed(Holder holder) {
    var lock = renewing.computeIfAbsent(holder, _ -> new ReentrantLock());
    try {
      lock.lockInterruptibly();
      try {
        var found = find(holder);
        return found.isEmpty() || found.get().good(now().plus(LEEWAY))
            ? found
            : renew(holder, found.get());
      } finally {
        lock.unlock();
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private Optional<Credential> renew(Holder holder, Credential old) throws InterruptedException {
    var still = Optional.of(old).filter(credential -> credential.good(now()));
    var renewal = old.renewal();
    var pause = failed.get(holder);
    if (renewal == null || (pause != null && pause.isAfter(now()))) {
      return still;
    }
    var answer = client.token(renewal.tokenEndpoint(), renewal.client(), parameters(renewal));
    return switch (answer) {
      case Answer.Done(var json) -> {
        var fresh = Tokens.read(json, renewal, now());
        fresh.ifPresent(credential -> put(holder, credential));
        yield fresh.or(() -> still);
      }
      case Answer.Refused(var error) -> {
        if (error.equals("invalid_grant") || error.equals("invalid_client")) {
          LOG.log(Level.INFO, "{0} must sign in to {1} again", holder.owner(), holder.provider());
          vault.remove(Kind.OAUTH, holder.owner(), holder.provider());
          yield Optional.empty();
        }
        failed.put(holder, now().plus(PAUSE));
        yield still;
      }
      case Answer.Unreachable _ -> {
        failed.put(holder, now().plus(PAUSE));
        yield still;
      }
    };
  }

  private void put(Holder holder, Credential credential) {
    failed.remove(holder);
    vault.put(Kind.OAUTH, holder.owner(), holder.provider(), credential);
  }

  private static Map<String, String> parameters(Renewal renewal) {
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("grant_type", "refresh_token");
    parameters.put("refresh_token", renewal.refreshToken());
    if (!renewal.scopes().isEmpty()) {
      parameters.put("scope", String.join(" ", renewal.scopes()));
    }
    if (renewal.resource() != null) {
      parameters.put("resource", renewal.resource());
    }
    return parameters;
  }

  private Optional<Credential> find(Holder holder) {
    return vault.find(Kind.OAUTH, holder.owner(), holder.provider());
  }

  private Instant now() {
    return vault.sources().clock().instant();
  }
}
