package dev.parley.identity;

import dev.parley.identity.IdentityStore.RecordKind;
import dev.parley.identity.People.Person;
import dev.parley.identity.PersonSignIns.IssuedSignIn;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The people who sign in at an identity provider. For many threads.
///
/// A person is found by the provider's issuer and subject, never by a name or an e-mail address: the
/// provider may give those to somebody else. A person of the same name who joined in another way is
/// another person.
public final class ExternalPeople {

  private static final int NAME_MAX = 55;
  private static final int SUFFIX_MAX = 1_000;
  private static final int DISPLAY_NAME_MAX = 200;

  /// Which person a subject of a provider is.
  record LinkedSubject(String id, String issuer, String subject, String person) {}

  /// What a provider says about a person.
  ///
  /// @param wantedName the name that the person gets, if it is new and nobody has this name
  /// @param groups the groups at the provider; null if the provider says nothing about groups
  public record ExternalPerson(
      String issuer,
      String subject,
      String wantedName,
      @Nullable String displayName,
      String tenant,
      Set<Role> roles,
      @Nullable Set<String> groups) {
    public ExternalPerson {
      roles = Set.copyOf(roles);
      groups = groups == null ? null : Set.copyOf(groups);
    }
  }

  private final IdentityStore store;
  private final IdentityTable<LinkedSubject> subjects;
  private final People people;
  private final PersonSignIns signIns;
  private final Identities identities;
  private final Time time;

  ExternalPeople(
      IdentityStore store, People people, PersonSignIns signIns, Identities identities, Time time) {
    this.store = store;
    this.people = people;
    this.signIns = signIns;
    this.identities = identities;
    this.time = time;
    subjects =
        new IdentityTable<>(store, RecordKind.SUBJECT, LinkedSubject.class, LinkedSubject::id);
  }

  private static String id(String issuer, String subject) {
    return Secrets.hash(issuer + "\n" + subject);
  }

  /// The person that this subject is, if it has signed in before.
  public Optional<Person> find(String issuer, String subject) {
    return subjects.find(id(issuer, subject)).map(LinkedSubject::person).flatMap(people::find);
  }

  /// Signs in a person whom the provider has authenticated. Creates the person at the first time; a
  /// provider that knows groups decides about roles and groups each time.
  ///
  /// @throws Rejection.Forbidden if the person is disabled
  public IssuedSignIn signIn(ExternalPerson external, InetAddress from) {
    if (!people.tenants().contains(external.tenant())) {
      people.createTenant(external.tenant());
    }
    var known = find(external.issuer(), external.subject());
    var person = known.isPresent() ? updated(known.get(), external) : create(external);
    return signIns.signIn(person.name(), "oidc", from);
  }

  /// Ends everything that a person could do because of groups which it has lost: its sign-ins end,
  /// and what is left, such as its keys, may only read.
  public void withdraw(String issuer, String subject) {
    find(issuer, subject)
        .ifPresent(
            person -> {
              people.change(with(person, Set.of(Role.VIEWER), Set.of()));
              signIns.endAll(person.name());
            });
  }

  private Person updated(Person person, ExternalPerson external) {
    if (external.groups() == null) {
      return person;
    }
    var groups = existing(person.tenant(), external.groups());
    if (person.roles().equals(external.roles()) && person.groups().equals(groups)) {
      return person;
    }
    return people.change(with(person, external.roles(), groups));
  }

  private static Person with(Person person, Set<Role> roles, Set<String> groups) {
    return new Person(
        person.name(),
        person.displayName(),
        person.tenant(),
        roles,
        groups,
        person.disabled(),
        person.createdAt(),
        person.lastSignInAt());
  }

  /// The groups that Parley has, too.
  private Set<String> existing(String tenant, @Nullable Set<String> names) {
    var found = new HashSet<>(people.groups(tenant));
    found.retainAll(names == null ? Set.of() : names);
    return found;
  }

  private Person create(ExternalPerson external) {
    var groups = existing(external.tenant(), external.groups());
    return store.change(
        () -> {
          var again = find(external.issuer(), external.subject());
          if (again.isPresent()) {
            return again.get();
          }
          var person =
              new Person(
                  freeName(external.wantedName()),
                  shortened(external.displayName()),
                  external.tenant(),
                  external.roles(),
                  groups,
                  false,
                  time.instant(),
                  null);
          people.checkNew(person, identities::taken);
          var added = people.add(person);
          subjects.put(
              new LinkedSubject(
                  id(external.issuer(), external.subject()),
                  external.issuer(),
                  external.subject(),
                  added.name()));
          return added;
        });
  }

  private static @Nullable String shortened(@Nullable String text) {
    return (text == null) || (text.length() <= DISPLAY_NAME_MAX)
        ? text
        : text.substring(0, DISPLAY_NAME_MAX);
  }

  /// The first name that nobody has, in the characters of names.
  private String freeName(String wanted) {
    var plain = wanted.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_@-]+", "-");
    var begun = plain.replaceFirst("^[^a-z0-9]+", "").replaceFirst("-+$", "");
    var base = begun.length() > NAME_MAX ? begun.substring(0, NAME_MAX) : begun;
    var first = base.isEmpty() ? "person" : base;
    for (var number = 1; number <= SUFFIX_MAX; number++) {
      var name = number == 1 ? first : first + "-" + number;
      if (!List.of(Caller.LOCAL, "anonymous").contains(name)
          && people.find(name).isEmpty()
          && !identities.taken(name)) {
        return name;
      }
    }
    throw new Rejection.Conflict("name-taken", "too many people have the name " + first);
  }
}
