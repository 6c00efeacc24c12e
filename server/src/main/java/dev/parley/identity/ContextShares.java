package dev.parley.identity;

import dev.parley.identity.Caller.Grant;
import dev.parley.identity.IdentityStore.RecordKind;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The contexts that are shared with people and groups, or by a link. For many threads.
public final class ContextShares implements SharedContexts {

  private static final int PER_CONTEXT_MAX = 100;
  private static final int SHARES_MAX = 100_000;

  /// One way in which a context is shared. Exactly one of `person`, `group` and `hash` is not null;
  /// `hash` is that of the link.
  public record ContextShare(
      String id,
      ContextId context,
      String tenant,
      @Nullable String person,
      @Nullable String group,
      @Nullable String hash,
      ShareLevel level,
      String createdBy,
      Instant createdAt,
      @Nullable Instant expiresAt) {

    private String subject() {
      return person != null ? "person:" + person : "group:" + tenant + "/" + group;
    }
  }

  /// A new share, and the secret of its link, which is not stored.
  public record IssuedShare(ContextShare share, @Nullable String secret) {}

  private final IdentityStore store;
  private final IdentityTable<ContextShare> shares;
  private final Map<String, Map<String, ContextShare>> bySubject = new ConcurrentHashMap<>();
  private final Map<ContextId, Map<String, ContextShare>> byContext = new ConcurrentHashMap<>();
  private final Map<String, ContextShare> byHash = new ConcurrentHashMap<>();
  private final People people;
  private final Revocations revocations;
  private final Secrets secrets;
  private final Supplier<String> ids;
  private final Time time;

  ContextShares(
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
    shares = new IdentityTable<>(store, RecordKind.SHARE, ContextShare.class, ContextShare::id);
    shares.all().forEach(this::index);
  }

  private void index(ContextShare share) {
    byContext
        .computeIfAbsent(share.context(), _ -> new ConcurrentHashMap<>())
        .put(share.id(), share);
    if (share.hash() == null) {
      bySubject
          .computeIfAbsent(share.subject(), _ -> new ConcurrentHashMap<>())
          .put(share.id(), share);
    } else {
      byHash.put(share.hash(), share);
    }
    if (share.expiresAt() != null) {
      var left = Duration.between(time.instant(), share.expiresAt());
      var _ =
          time.schedule(
              "parley-share-expiry",
              left.isNegative() ? Duration.ZERO : left,
              () -> store.changeLater(() -> remove(share)));
    }
  }

  /// Shares a context. `wanted` has no id and no creation time yet.
  ///
  /// @throws Rejection.NotFound if there is no such person or group in the tenant
  public IssuedShare share(Caller owner, ContextShare wanted) {
    checkSubject(wanted);
    if (wanted.expiresAt() != null && !wanted.expiresAt().isAfter(time.instant())) {
      throw new Rejection.Invalid("expiresAt must be in the future");
    }
    var link = wanted.person() == null && wanted.group() == null;
    var secret = link ? secrets.create(Secrets.LINK) : null;
    var share =
        new ContextShare(
            ids.get(),
            wanted.context(),
            owner.tenant(),
            wanted.person(),
            wanted.group(),
            secret == null ? null : Secrets.hash(secret),
            link ? ShareLevel.VIEW : wanted.level(),
            owner.principal(),
            time.instant(),
            wanted.expiresAt());
    return store.change(
        () -> {
          var present = of(share.context());
          if (present.size() >= PER_CONTEXT_MAX || shares.size() >= SHARES_MAX) {
            throw new Rejection.Busy(
                "too-many-shares",
                "a context has at most %d shares, and the server %d"
                    .formatted(PER_CONTEXT_MAX, SHARES_MAX));
          }
          shares.put(share);
          index(share);
          present.stream()
              .filter(old -> !link && old.hash() == null)
              .filter(old -> old.subject().equals(share.subject()))
              .forEach(this::remove);
          return new IssuedShare(share, secret);
        });
  }

  private void checkSubject(ContextShare wanted) {
    if (wanted.person() != null
        && people
            .find(wanted.person())
            .filter(person -> person.tenant().equals(wanted.tenant()) && !person.disabled())
            .isEmpty()) {
      throw People.unknown(wanted.person());
    }
    if (wanted.group() != null) {
      people.checkGroups(wanted.tenant(), Set.of(wanted.group()));
    }
  }

  /// How a context is shared, oldest first.
  public List<ContextShare> of(ContextId context) {
    return byContext.getOrDefault(context, Map.of()).values().stream()
        .filter(this::valid)
        .sorted(Comparator.comparing(ContextShare::createdAt).thenComparing(ContextShare::id))
        .toList();
  }

  /// Ends a share of a context, and the streams of those who lose it.
  ///
  /// @throws Rejection.NotFound if the context has no such share
  public void end(ContextId context, String id) {
    store.change(
        () -> {
          var share =
              shares
                  .find(id)
                  .filter(found -> found.context().equals(context))
                  .orElseThrow(() -> new Rejection.NotFound("no such share: " + id));
          remove(share);
          return share;
        });
  }

  /// Ends all shares of a deleted context.
  public void removeContext(ContextId context) {
    if (byContext.containsKey(context)) {
      store.change(
          () -> {
            List.copyOf(byContext.getOrDefault(context, Map.of()).values()).forEach(this::remove);
            return context;
          });
    }
  }

  /// Only for the thread of the store.
  private void remove(ContextShare share) {
    shares.remove(share.id());
    byContext.computeIfPresent(share.context(), (_, some) -> without(some, share));
    if (share.hash() == null) {
      bySubject.computeIfPresent(share.subject(), (_, some) -> without(some, share));
    } else {
      byHash.remove(share.hash());
    }
    revocations.revoke(caller -> caller.revocable() && concerns(share, caller));
  }

  private static @Nullable Map<String, ContextShare> without(
      Map<String, ContextShare> some, ContextShare share) {
    some.remove(share.id());
    return some.isEmpty() ? null : some;
  }

  private static boolean concerns(ContextShare share, Caller caller) {
    return share.hash() == null
        ? subjects(caller).contains(share.subject())
        : caller.credential().equals(credential(share));
  }

  private static String credential(ContextShare share) {
    return "link:" + share.id();
  }

  private static Set<String> subjects(Caller caller) {
    var subjects = new HashSet<String>();
    switch (caller.kind()) {
      case KEY, PERSON -> {
        subjects.add("person:" + caller.principal());
        caller.groups().forEach(group -> subjects.add("group:" + caller.tenant() + "/" + group));
      }
      case LOCAL, TOKEN, ANONYMOUS, LINK -> {}
    }
    return subjects;
  }

  private boolean valid(ContextShare share) {
    return share.expiresAt() == null || time.instant().isBefore(share.expiresAt());
  }

  @Override
  public Optional<ShareLevel> level(Caller caller, ContextId context) {
    var some = byContext.get(context);
    if (some == null) {
      return Optional.empty();
    }
    var subjects = subjects(caller);
    return some.values().stream()
        .filter(share -> share.hash() == null && subjects.contains(share.subject()))
        .filter(this::valid)
        .map(ContextShare::level)
        .max(Comparator.naturalOrder());
  }

  @Override
  public Set<String> ids(Caller caller) {
    if (bySubject.isEmpty()) {
      return Set.of();
    }
    var found = new HashSet<String>();
    for (var subject : subjects(caller)) {
      bySubject.getOrDefault(subject, Map.of()).values().stream()
          .filter(this::valid)
          .forEach(share -> found.add(share.context().value()));
    }
    return found;
  }

  /// The caller of a link that is valid now.
  Optional<Caller> find(String secret, InetAddress from) {
    return Optional.ofNullable(byHash.get(Secrets.hash(secret)))
        .filter(this::valid)
        .map(
            share ->
                new Caller(
                    credential(share),
                    CallerKind.LINK,
                    share.tenant(),
                    Set.of(),
                    Set.of(Role.VIEWER),
                    new Grant(Set.of(Scope.READ), Set.of(), Set.of(share.context().value())),
                    credential(share),
                    from));
  }
}
