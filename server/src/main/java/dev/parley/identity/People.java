package dev.parley.identity;

import dev.parley.identity.IdentityStore.RecordKind;
import dev.parley.protocol.Rejection;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The people, and their tenants and groups.
///
/// A person is never deleted, only disabled: the contexts of a person belong to its name, which
/// nobody else may get. For many threads.
public final class People {

  private static final int PEOPLE_MAX = 10_000;
  private static final int GROUPS_MAX = 1_000;
  private static final int TEXT_MAX = 200;

  /// A person. `groups` are groups of its tenant.
  public record Person(
      String name,
      @Nullable String displayName,
      String tenant,
      Set<Role> roles,
      Set<String> groups,
      boolean disabled,
      Instant createdAt,
      @Nullable Instant lastSignInAt) {
    public Person {
      roles = Set.copyOf(roles);
      groups = Set.copyOf(groups);
    }

    Person signedIn(Instant at) {
      return new Person(name, displayName, tenant, roles, groups, disabled, createdAt, at);
    }
  }

  /// A group of people of a tenant.
  public record Group(String tenant, String name) {}

  /// A tenant. People of different tenants never see anything of each other.
  public record Tenant(String name) {}

  private final IdentityStore store;
  private final IdentityTable<Person> people;
  private final IdentityTable<Group> groups;
  private final IdentityTable<Tenant> tenants;
  private final Revocations revocations;
  private final boolean acceptTenants;

  /// `acceptTenants` is false if the server cannot have other tenants than the default one.
  People(IdentityStore store, Revocations revocations, boolean acceptTenants) {
    this.store = store;
    this.acceptTenants = acceptTenants;
    this.revocations = revocations;
    people = new IdentityTable<>(store, RecordKind.PERSON, Person.class, Person::name);
    groups = new IdentityTable<>(store, RecordKind.GROUP, Group.class, People::id);
    tenants = new IdentityTable<>(store, RecordKind.TENANT, Tenant.class, Tenant::name);
  }

  private static String id(Group group) {
    return group.tenant() + "/" + group.name();
  }

  /// The person with this name, disabled or not.
  public Optional<Person> find(String name) {
    return people.find(name);
  }

  /// The people of a tenant, ordered by name.
  public List<Person> ofTenant(String tenant) {
    return people.all().stream()
        .filter(person -> person.tenant().equals(tenant))
        .sorted(Comparator.comparing(Person::name))
        .toList();
  }

  /// The tenants, ordered by name. The default tenant always exists.
  public List<String> tenants() {
    var names = new TreeSet<>(Set.of(Caller.DEFAULT_TENANT));
    tenants.all().forEach(tenant -> names.add(tenant.name()));
    return List.copyOf(names);
  }

  /// The groups of a tenant, ordered by name.
  public List<String> groups(String tenant) {
    return groups.all().stream()
        .filter(group -> group.tenant().equals(tenant))
        .map(Group::name)
        .sorted()
        .toList();
  }

  /// Creates a tenant, unless it exists.
  ///
  /// @throws Rejection.Conflict if the server is not prepared to separate tenants
  public void createTenant(String name) {
    Names.check("tenant", name);
    if (!acceptTenants) {
      throw new Rejection.Conflict(
          "isolation-required",
          "people of different tenants do not trust each other: state isolation.level and"
              + " untrusted.effects in the configuration and start the server again, see"
              + " docs/isolation.md");
    }
    store.change(
        () -> {
          if (tenants.find(name).isEmpty()) {
            tenants.put(new Tenant(name));
          }
          return name;
        });
  }

  /// Creates a group, unless it exists.
  public void createGroup(String tenant, String name) {
    Names.check("group", name);
    checkTenant(tenant);
    store.change(
        () -> {
          if (groups.size() >= GROUPS_MAX) {
            throw new Rejection.Busy("too-many-groups", "there are at most " + GROUPS_MAX);
          }
          var group = new Group(tenant, name);
          if (groups.find(id(group)).isEmpty()) {
            groups.put(group);
          }
          return name;
        });
  }

  /// Removes a group and the membership of its people, who lose what is shared with it at once.
  public void removeGroup(String tenant, String name) {
    store.change(
        () -> {
          checkGroups(tenant, Set.of(name));
          for (var person : people.all()) {
            if (person.tenant().equals(tenant) && person.groups().contains(name)) {
              var left = new HashSet<>(person.groups());
              left.remove(name);
              people.put(with(person, person.roles(), left));
            }
          }
          groups.remove(id(new Group(tenant, name)));
          return name;
        });
    revocations.revoke(caller -> caller.tenant().equals(tenant) && caller.groups().contains(name));
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

  /// Creates a person. `taken` is true for names that other principals have.
  ///
  /// @throws Rejection.Conflict if the name is taken
  public Person create(Person person, Predicate<String> taken) {
    return store.change(
        () -> {
          checkNew(person, taken);
          return add(person);
        });
  }

  /// Rejects a person that cannot be created.
  void checkNew(Person person, Predicate<String> taken) {
    check(person);
    if (people.find(person.name()).isPresent()
        || person.name().equals(Caller.LOCAL)
        || taken.test(person.name())) {
      throw new Rejection.Conflict("name-taken", "choose another name: " + person.name());
    }
    if (people.size() >= PEOPLE_MAX) {
      throw new Rejection.Busy("too-many-people", "there are at most " + PEOPLE_MAX + " people");
    }
  }

  /// Adds a person that was checked. Only for the thread of the store.
  Person add(Person person) {
    people.put(person);
    return person;
  }

  /// Changes a person. Its open streams end, so that it reconnects with its new permissions.
  ///
  /// @throws Rejection.NotFound if there is no such person
  public Person change(Person person) {
    var changed =
        store.change(
            () -> {
              check(person);
              if (people.find(person.name()).isEmpty()) {
                throw unknown(person.name());
              }
              people.put(person);
              return person;
            });
    revocations.revoke(caller -> caller.principal().equals(person.name()) && caller.revocable());
    return changed;
  }

  private void check(Person person) {
    Names.check("name", person.name());
    if (person.displayName() != null && person.displayName().length() > TEXT_MAX) {
      throw new Rejection.Invalid("displayName has at most " + TEXT_MAX + " characters");
    }
    checkTenant(person.tenant());
    checkGroups(person.tenant(), person.groups());
    if (person.roles().isEmpty()) {
      throw new Rejection.Invalid("a person needs at least one role");
    }
  }

  /// Rejects a tenant that does not exist.
  void checkTenant(String tenant) {
    if (!tenant.equals(Caller.DEFAULT_TENANT) && tenants.find(tenant).isEmpty()) {
      throw new Rejection.NotFound("no such tenant: " + tenant);
    }
  }

  /// Rejects groups that the tenant does not have.
  void checkGroups(String tenant, Set<String> names) {
    var missing =
        names.stream()
            .filter(name -> groups.find(id(new Group(tenant, name))).isEmpty())
            .sorted()
            .collect(Collectors.joining(", "));
    if (!missing.isEmpty()) {
      throw new Rejection.NotFound("no such group: " + missing);
    }
  }

  /// Records that the person has signed in. Only for the thread of the store.
  void signedIn(Person person, Instant at) {
    people.put(person.signedIn(at));
  }

  static Rejection.NotFound unknown(String name) {
    return new Rejection.NotFound("no such person: " + name);
  }
}
