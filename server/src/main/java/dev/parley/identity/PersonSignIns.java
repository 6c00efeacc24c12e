package dev.parley.identity;

import dev.parley.identity.Caller.Grant;
import dev.parley.identity.IdentityStore.RecordKind;
import dev.parley.identity.People.Person;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The sign-ins of people: what their browsers send in a cookie, and the invitations with which they
/// begin. For many threads.
public final class PersonSignIns {

  /// How long a person stays signed in.
  public static final Duration SIGN_IN_TIME = Duration.ofDays(7);

  /// How long an invitation can be accepted, unless it says otherwise.
  public static final Duration INVITATION_TIME = Duration.ofDays(7);

  private static final int PER_PERSON_MAX = 20;
  private static final int INVITATIONS_MAX = 1_000;

  /// A sign-in of a person.
  ///
  /// @param method how the person signed in, such as `invitation`
  public record PersonSignIn(
      String id,
      String hash,
      String person,
      String method,
      String address,
      Instant createdAt,
      Instant expiresAt) {}

  /// A new sign-in and its secret, which is not stored.
  public record IssuedSignIn(PersonSignIn signIn, String secret) {}

  /// An invitation, which one person may accept. `name` is null if the person chooses it.
  public record Invitation(
      String id,
      String hash,
      @Nullable String name,
      String tenant,
      Set<Role> roles,
      Set<String> groups,
      String createdBy,
      Instant expiresAt) {
    public Invitation {
      roles = Set.copyOf(roles);
      groups = Set.copyOf(groups);
    }
  }

  /// A new invitation and its secret, which is not stored.
  public record IssuedInvitation(Invitation invitation, String secret) {}

  private final IdentityStore store;
  private final IdentityTable<PersonSignIn> signIns;
  private final IdentityTable<Invitation> invitations;
  private final Map<String, String> idsByHash = new ConcurrentHashMap<>();
  private final People people;
  private final Revocations revocations;
  private final Secrets secrets;
  private final Supplier<String> ids;
  private final Time time;

  PersonSignIns(
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
    signIns = new IdentityTable<>(store, RecordKind.SESSION, PersonSignIn.class, PersonSignIn::id);
    invitations =
        new IdentityTable<>(store, RecordKind.INVITATION, Invitation.class, Invitation::id);
    signIns.all().forEach(this::index);
  }

  private void index(PersonSignIn signIn) {
    idsByHash.put(signIn.hash(), signIn.id());
    var left = Duration.between(time.instant(), signIn.expiresAt());
    var _ =
        time.schedule(
            "parley-sign-in-expiry",
            left.isNegative() ? Duration.ZERO : left,
            () -> store.changeLater(() -> remove(signIn)));
  }

  /// The present time, from which the time of an invitation is counted.
  public Instant now() {
    return time.instant();
  }

  /// Signs a person in. The caller has authenticated the person.
  ///
  /// @param method how the person was authenticated, such as `oidc`
  /// @throws Rejection.Forbidden if the person is unknown or disabled
  public IssuedSignIn signIn(String name, String method, InetAddress from) {
    var secret = secrets.create(Secrets.SESSION);
    return store.change(
        () -> {
          var person =
              people
                  .find(name)
                  .filter(found -> !found.disabled())
                  .orElseThrow(
                      () -> new Rejection.Forbidden("person-disabled", "you may not sign in here"));
          var now = time.instant();
          var signIn =
              new PersonSignIn(
                  ids.get(),
                  Secrets.hash(secret),
                  name,
                  method,
                  from.getHostAddress(),
                  now,
                  now.plus(SIGN_IN_TIME));
          var before = of(name);
          before.stream()
              .limit(Math.max(0, before.size() + 1L - PER_PERSON_MAX))
              .forEach(this::remove);
          signIns.put(signIn);
          people.signedIn(person, now);
          index(signIn);
          return new IssuedSignIn(signIn, secret);
        });
  }

  /// The sign-ins of a person that are valid now, oldest first.
  public List<PersonSignIn> of(String person) {
    var now = time.instant();
    return signIns.all().stream()
        .filter(signIn -> signIn.person().equals(person) && now.isBefore(signIn.expiresAt()))
        .sorted(Comparator.comparing(PersonSignIn::createdAt).thenComparing(PersonSignIn::id))
        .toList();
  }

  /// Ends a sign-in of this person, and its streams.
  ///
  /// @throws Rejection.NotFound if there is none with this id
  public void end(String person, String id) {
    store.change(
        () -> {
          var signIn =
              signIns
                  .find(id)
                  .filter(found -> found.person().equals(person))
                  .orElseThrow(() -> new Rejection.NotFound("no such sign-in: " + id));
          remove(signIn);
          return signIn;
        });
  }

  /// Ends all sign-ins of this person.
  public void endAll(String person) {
    store.change(
        () -> {
          signIns.all().stream().filter(one -> one.person().equals(person)).forEach(this::remove);
          return person;
        });
  }

  /// Ends the sign-in with this secret, if there is one.
  void endSecret(String secret) {
    var id = idsByHash.get(Secrets.hash(secret));
    if (id != null) {
      store.change(
          () -> {
            signIns.find(id).ifPresent(this::remove);
            return id;
          });
    }
  }

  private void remove(PersonSignIn signIn) {
    idsByHash.remove(signIn.hash());
    signIns.remove(signIn.id());
    revocations.revoke(caller -> caller.credential().equals(credential(signIn)));
  }

  private static String credential(PersonSignIn signIn) {
    return "session:" + signIn.id();
  }

  /// The caller of a sign-in that is valid now.
  Optional<Caller> find(String secret, InetAddress from) {
    var now = time.instant();
    return Optional.ofNullable(idsByHash.get(Secrets.hash(secret)))
        .flatMap(signIns::find)
        .filter(signIn -> now.isBefore(signIn.expiresAt()))
        .flatMap(
            signIn ->
                people
                    .find(signIn.person())
                    .filter(person -> !person.disabled())
                    .map(
                        person ->
                            new Caller(
                                person.name(),
                                CallerKind.PERSON,
                                person.tenant(),
                                person.groups(),
                                person.roles(),
                                Grant.of(Role.scopes(person.roles())),
                                credential(signIn),
                                from)));
  }

  /// Creates an invitation. The roles of the invited person are limited to what the creator may
  /// give.
  public IssuedInvitation invite(Invitation wanted) {
    if (wanted.name() != null) {
      Names.check("name", wanted.name());
      if (people.find(wanted.name()).isPresent()) {
        throw new Rejection.Conflict("name-taken", "there is a person with this name");
      }
    }
    if (!wanted.expiresAt().isAfter(time.instant())) {
      throw new Rejection.Invalid("expiresAt must be in the future");
    }
    people.checkTenant(wanted.tenant());
    people.checkGroups(wanted.tenant(), wanted.groups());
    var secret = secrets.create(Secrets.INVITATION);
    var invitation =
        new Invitation(
            ids.get(),
            Secrets.hash(secret),
            wanted.name(),
            wanted.tenant(),
            wanted.roles(),
            wanted.groups(),
            wanted.createdBy(),
            wanted.expiresAt());
    return store.change(
        () -> {
          removeExpired();
          if (invitations.size() >= INVITATIONS_MAX) {
            throw new Rejection.Busy(
                "too-many-invitations", "there are at most " + INVITATIONS_MAX + " invitations");
          }
          invitations.put(invitation);
          return new IssuedInvitation(invitation, secret);
        });
  }

  private void removeExpired() {
    var now = time.instant();
    invitations.all().stream()
        .filter(old -> !now.isBefore(old.expiresAt()))
        .forEach(old -> invitations.remove(old.id()));
  }

  /// The open invitations of a tenant, those that expire first at the beginning.
  public List<Invitation> invitations(String tenant) {
    var now = time.instant();
    return invitations.all().stream()
        .filter(open -> open.tenant().equals(tenant) && now.isBefore(open.expiresAt()))
        .sorted(Comparator.comparing(Invitation::expiresAt).thenComparing(Invitation::id))
        .toList();
  }

  /// Withdraws an invitation of a tenant.
  ///
  /// @throws Rejection.NotFound if there is none with this id
  public void withdraw(String tenant, String id) {
    store.change(
        () -> {
          if (invitations.find(id).filter(open -> open.tenant().equals(tenant)).isEmpty()) {
            throw new Rejection.NotFound("no such invitation: " + id);
          }
          invitations.remove(id);
          return id;
        });
  }

  /// The invitation with this secret, if it can be accepted now.
  public Optional<Invitation> invitation(String secret) {
    var hash = Secrets.hash(secret);
    var now = time.instant();
    return invitations.all().stream()
        .filter(open -> open.hash().equals(hash) && now.isBefore(open.expiresAt()))
        .findFirst();
  }

  /// Accepts an invitation: creates the person and signs it in. `taken` is true for names that other
  /// principals have.
  ///
  /// @throws Rejection.NotFound if the invitation was used or withdrawn, or has expired
  /// @throws Rejection.Conflict if the name is taken; the invitation stays open
  public IssuedSignIn accept(
      String secret,
      @Nullable String name,
      @Nullable String displayName,
      InetAddress from,
      Predicate<String> taken) {
    var person =
        store.change(
            () -> {
              var invitation =
                  invitation(secret)
                      .orElseThrow(
                          () ->
                              new Rejection.NotFound(
                                  "this invitation was used or withdrawn, or has expired; ask for"
                                      + " another one"));
              var chosen = invitation.name() == null ? name : invitation.name();
              if (chosen == null || chosen.isBlank()) {
                throw new Rejection.Invalid("name is required");
              }
              return accept(invitation, chosen, displayName, taken);
            });
    return signIn(person.name(), "invitation", from);
  }

  /// Only for the thread of the store.
  private Person accept(
      Invitation invitation, String name, @Nullable String displayName, Predicate<String> taken) {
    var person =
        new Person(
            name,
            displayName,
            invitation.tenant(),
            invitation.roles(),
            invitation.groups(),
            false,
            time.instant(),
            null);
    people.checkNew(person, taken);
    // First, so that a crash between the two writes never lets somebody use it twice.
    invitations.remove(invitation.id());
    return people.add(person);
  }
}
