package dev.parley.identity;

import dev.parley.identity.Caller.Grant;
import dev.parley.identity.IdentityStore.RecordKind;
import dev.parley.identity.People.Person;
import dev.parley.protocol.Id;
import dev.parley.protocol.Identity.NewKey;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The API keys of programs. For many threads.
public final class ApiKeys {

  private static final int KEYS_MAX = 10_000;
  private static final int LIMITS_MAX = 100;

  /// How exact the stored time of the last use is. A write for each request would be slow.
  private static final Duration USE_INTERVAL = Duration.ofMinutes(1);

  private static final Set<Scope> DEFAULT_SCOPES = Set.of(Scope.READ, Scope.WRITE);

  /// A key. It acts for `principal`: a person, whose present roles limit it, or another name.
  public record ApiKey(
      String id,
      String hash,
      String name,
      String principal,
      String tenant,
      boolean operator,
      Set<Scope> scopes,
      Set<String> agents,
      Set<String> contexts,
      String createdBy,
      Instant createdAt,
      @Nullable Instant expiresAt,
      @Nullable Instant lastUsedAt) {
    public ApiKey {
      scopes = Set.copyOf(scopes);
      agents = Set.copyOf(agents);
      contexts = Set.copyOf(contexts);
    }

    ApiKey usedAt(Instant at) {
      return new ApiKey(
          id, hash, name, principal, tenant, operator, scopes, agents, contexts, createdBy,
          createdAt, expiresAt, at);
    }
  }

  /// A new key and its secret, which is not stored.
  public record IssuedKey(ApiKey key, String secret) {}

  private final IdentityStore store;
  private final IdentityTable<ApiKey> keys;
  private final Map<String, String> idsByHash = new ConcurrentHashMap<>();
  private final People people;
  private final Revocations revocations;
  private final Secrets secrets;
  private final Supplier<String> ids;
  private final Time time;

  ApiKeys(
      IdentityStore store,
      People people,
      Revocations revocations,
      Secrets secrets,
      Supplier<String> ids,
      Time time) {
    this.store = store;
    this.people = people;
    this.revocations = revocations;
    this.secrets = secrets;
    this.ids = ids;
    this.time = time;
    keys = new IdentityTable<>(store, RecordKind.KEY, ApiKey.class, ApiKey::id);
    keys.all().forEach(this::index);
  }

  private void index(ApiKey key) {
    idsByHash.put(key.hash(), key.id());
    if (key.expiresAt() != null) {
      var left = Duration.between(time.instant(), key.expiresAt());
      var _ =
          time.schedule(
              "parley-key-expiry", left.isNegative() ? Duration.ZERO : left, () -> end(key));
    }
  }

  private void end(ApiKey key) {
    revocations.revoke(caller -> caller.credential().equals(credential(key)));
  }

  private static String credential(ApiKey key) {
    return "key:" + key.id();
  }

  /// Creates a key with at most the permissions of its creator.
  ///
  /// @throws Rejection.Forbidden if the key would permit more
  public IssuedKey create(Caller creator, NewKey wanted) {
    Names.check("name", wanted.name());
    checkCreator(creator);
    var administers = creator.has(Scope.ADMINISTER);
    var principal =
        wanted.principal() != null
            ? wanted.principal()
            : administers && creator.kind() == CallerKind.LOCAL
                ? wanted.name()
                : creator.principal();
    var person = people.find(principal);
    if (!principal.equals(creator.principal())) {
      checkMayActFor(creator, principal, person);
    }
    var scopes = wanted.scopes() == null ? DEFAULT_SCOPES : Names.scopes(wanted.scopes());
    var agents = limit("agents", wanted.agents(), creator.grant().agents());
    var contexts = limit("contexts", wanted.contexts(), creator.grant().contexts());
    if (!creator.grant().scopes().containsAll(scopes)) {
      throw new Rejection.Forbidden(
          "scope-missing", "a key cannot have scopes that you do not have");
    }
    if (wanted.expiresAt() != null && !wanted.expiresAt().isAfter(time.instant())) {
      throw new Rejection.Invalid("expiresAt must be in the future");
    }
    var secret = secrets.create(Secrets.KEY);
    var key =
        new ApiKey(
            ids.get(),
            Secrets.hash(secret),
            wanted.name(),
            principal,
            person.map(Person::tenant).orElse(creator.tenant()),
            scopes.contains(Scope.ADMINISTER) && creator.operator(),
            scopes,
            agents,
            contexts,
            creator.principal(),
            time.instant(),
            wanted.expiresAt(),
            null);
    return store.change(
        () -> {
          if (keys.size() >= KEYS_MAX) {
            throw new Rejection.Busy("too-many-keys", "there are at most " + KEYS_MAX + " keys");
          }
          if (visible(creator).stream().anyMatch(other -> other.name().equals(key.name()))) {
            throw new Rejection.Conflict(
                "name-taken", "you have a key with this name: " + key.name());
          }
          keys.put(key);
          index(key);
          return new IssuedKey(key, secret);
        });
  }

  private static void checkCreator(Caller creator) {
    var permitted =
        switch (creator.kind()) {
          case LOCAL, TOKEN, PERSON -> true;
          case KEY -> creator.has(Scope.ADMINISTER);
          case ANONYMOUS, LINK -> false;
        };
    if (!permitted) {
      throw new Rejection.Forbidden(
          "scope-missing", "a key creates other keys only with the scope administer");
    }
  }

  private static void checkMayActFor(Caller creator, String principal, Optional<Person> person) {
    if (!creator.has(Scope.ADMINISTER)) {
      throw new Rejection.Forbidden(
          "scope-missing", "only administrators create keys for another principal");
    }
    if (!principal.equals(Caller.LOCAL)) {
      Names.check("principal", principal);
    }
    // Somebody who is no person here may be anybody: a token of the configuration, or another key.
    var permitted =
        creator.operator() || person.filter(p -> p.tenant().equals(creator.tenant())).isPresent();
    if (!permitted) {
      throw new Rejection.Forbidden(
          "operator-required", "only operators create keys for principals that are no people");
    }
  }

  private static Set<String> limit(
      String field, @Nullable List<String> wanted, Set<String> ofCreator) {
    if (wanted == null || wanted.isEmpty()) {
      return ofCreator;
    }
    if (wanted.size() > LIMITS_MAX) {
      throw new Rejection.Invalid(field + " has at most " + LIMITS_MAX + " items");
    }
    wanted.forEach(id -> Id.check(field, id));
    var limits = new HashSet<>(wanted);
    if (!ofCreator.isEmpty() && !ofCreator.containsAll(limits)) {
      throw new Rejection.Forbidden("scope-missing", field + ": you may not use all of these");
    }
    return limits;
  }

  /// The keys that the caller may list and revoke, oldest first: its own, and, for an administrator,
  /// those of its tenant, or all for an operator.
  public List<ApiKey> visible(Caller caller) {
    return keys.all().stream()
        .filter(key -> mayManage(caller, key))
        .sorted(Comparator.comparing(ApiKey::createdAt).thenComparing(ApiKey::id))
        .toList();
  }

  private static boolean mayManage(Caller caller, ApiKey key) {
    var permitted =
        switch (caller.kind()) {
          case LOCAL, TOKEN, PERSON -> true;
          case KEY -> caller.has(Scope.ADMINISTER);
          case ANONYMOUS, LINK -> false;
        };
    if (!permitted) {
      return false;
    }
    return key.principal().equals(caller.principal())
        || (caller.has(Scope.ADMINISTER)
            && (caller.operator() || caller.tenant().equals(key.tenant())));
  }

  /// The key with this id, or with this name if there is only one that the caller may manage.
  ///
  /// @throws Rejection.NotFound if the caller may manage no such key
  public ApiKey find(Caller caller, String idOrName) {
    var visible = visible(caller);
    var byName = visible.stream().filter(key -> key.name().equals(idOrName)).toList();
    return visible.stream()
        .filter(key -> key.id().equals(idOrName))
        .findFirst()
        .or(() -> byName.size() == 1 ? Optional.of(byName.getFirst()) : Optional.empty())
        .orElseThrow(() -> new Rejection.NotFound("no such key: " + idOrName));
  }

  /// Revokes a key. Its open streams and sockets end.
  ///
  /// @throws Rejection.NotFound if the caller may manage no such key
  public void revoke(Caller caller, String idOrName) {
    var key = find(caller, idOrName);
    store.change(
        () -> {
          idsByHash.remove(key.hash());
          keys.remove(key.id());
          return key;
        });
    end(key);
  }

  /// True if a key acts for this principal.
  boolean actsFor(String principal) {
    return keys.all().stream().anyMatch(key -> key.principal().equals(principal));
  }

  /// The caller of a key that is valid now.
  Optional<Caller> find(String secret, InetAddress from) {
    var now = time.instant();
    return Optional.ofNullable(idsByHash.get(Secrets.hash(secret)))
        .flatMap(keys::find)
        .filter(key -> key.expiresAt() == null || now.isBefore(key.expiresAt()))
        .flatMap(
            key -> {
              recordUse(key, now);
              return caller(key, from);
            });
  }

  private void recordUse(ApiKey key, Instant now) {
    var last = key.lastUsedAt();
    if (last != null && now.isBefore(last.plus(USE_INTERVAL))) {
      return;
    }
    var used = key.usedAt(now);
    keys.replaceInMemory(used);
    store.changeLater(() -> keys.find(key.id()).ifPresent(_ -> keys.put(used)));
  }

  private Optional<Caller> caller(ApiKey key, InetAddress from) {
    var person = people.find(key.principal());
    if (person.isPresent()) {
      return person
          .filter(found -> !found.disabled())
          .map(
              found -> {
                var scopes = EnumSet.copyOf(key.scopes());
                scopes.retainAll(Role.scopes(found.roles()));
                return caller(key, scopes, found.tenant(), found.groups(), found.roles(), from);
              });
    }
    var roles = EnumSet.of(Role.MEMBER);
    if (key.scopes().contains(Scope.ADMINISTER)) {
      roles.add(Role.OWNER);
    }
    if (key.operator()) {
      roles.add(Role.OPERATOR);
    }
    return Optional.of(caller(key, key.scopes(), key.tenant(), Set.of(), roles, from));
  }

  private static Caller caller(
      ApiKey key,
      Set<Scope> scopes,
      String tenant,
      Set<String> groups,
      Set<Role> roles,
      InetAddress from) {
    return new Caller(
        key.principal(),
        CallerKind.KEY,
        tenant,
        groups,
        roles,
        new Grant(scopes, key.agents(), key.contexts()),
        credential(key),
        from);
  }
}
