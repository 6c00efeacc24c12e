package dev.parley.api.identity;

import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.Route.RouteDescription;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.identity.Identities;
import dev.parley.identity.People;
import dev.parley.identity.People.Person;
import dev.parley.identity.Role;
import dev.parley.protocol.Identity.PersonChange;
import dev.parley.protocol.Identity.PersonView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// `/api/people`, `/api/groups` and `/api/tenants`, for administrators.
final class PeopleRoutes {

  static final Parameter TENANT =
      Parameter.query("tenant", "the tenant, for operators; the caller's own by default");

  private static final String PEOPLE = "/api/people";
  private static final String PERSON = PEOPLE + "/{person}";
  private static final String GROUPS = "/api/groups";
  private static final String TENANTS = "/api/tenants";

  /// The name of a group or tenant.
  record Named(String name) {}

  private final Identities identities;
  private final People people;
  private final Administration administration;

  PeopleRoutes(Identities identities, Administration administration) {
    this.identities = identities;
    this.people = identities.people();
    this.administration = administration;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
                PEOPLE,
                "Lists the people of a tenant",
                ResponseDescription.page(PersonView.class),
                List.of(TENANT),
                this::list)
            .doing(Action.ADMINISTER),
        Route.get(
                PERSON,
                "Shows a person",
                ResponseDescription.one(PersonView.class),
                request -> new Reply.Json(200, view(person(request))))
            .doing(Action.ADMINISTER),
        Route.withBody(
                Method.PATCH,
                PERSON,
                new RouteDescription(
                    "Changes the roles or groups of a person, or disables it",
                    List.of(),
                    PersonChange.class,
                    ResponseDescription.one(PersonView.class)),
                this::change)
            .doing(Action.ADMINISTER),
        named(Method.GET, GROUPS, "Lists the groups of a tenant", this::listGroups),
        named(Method.POST, GROUPS, "Creates a group", this::createGroup),
        Route.withoutBody(
                Method.DELETE,
                GROUPS + "/{group}",
                "Removes a group; what is shared with it is not shared any more",
                ResponseDescription.empty(),
                this::removeGroup)
            .doing(Action.ADMINISTER),
        named(Method.GET, TENANTS, "Lists the tenants", this::listTenants).doing(Action.OPERATE),
        named(Method.POST, TENANTS, "Creates a tenant", this::createTenant).doing(Action.OPERATE));
  }

  private static Route named(
      Method method, String path, String summary, Route.RouteHandler handler) {
    return method == Method.GET
        ? Route.get(path, summary, ResponseDescription.page(Named.class), List.of(TENANT), handler)
            .doing(Action.ADMINISTER)
        : Route.withBody(
                method,
                path,
                new RouteDescription(
                    summary,
                    List.of(TENANT),
                    Named.class,
                    ResponseDescription.one(201, Named.class)),
                handler)
            .doing(Action.ADMINISTER);
  }

  private Reply list(Request request) {
    var found =
        people.ofTenant(administration.tenant(request)).stream().map(PeopleRoutes::view).toList();
    return new Reply.Json(200, new ResultPage<>(found, null));
  }

  /// The person that the path names, in a tenant that the caller administers.
  private Person person(Request request) {
    var name = request.path("person");
    var caller = request.caller();
    return people
        .find(name)
        .filter(person -> person.tenant().equals(caller.tenant()) || caller.operator())
        .orElseThrow(() -> new Rejection.NotFound("no such person: " + name));
  }

  private Reply change(Request request) {
    administration.checkPerson(request);
    var before = person(request);
    var wanted = request.body(PersonChange.class);
    var roles = wanted.roles() == null ? before.roles() : Role.parse(wanted.roles());
    checkRoles(request.caller(), before.roles(), roles);
    var after =
        new Person(
            before.name(),
            wanted.displayName() == null ? before.displayName() : wanted.displayName(),
            before.tenant(),
            roles,
            wanted.groups() == null ? before.groups() : Set.copyOf(new HashSet<>(wanted.groups())),
            wanted.disabled() == null ? before.disabled() : wanted.disabled(),
            before.createdAt(),
            before.lastSignInAt());
    var changed = people.change(after);
    if (changed.disabled()) {
      identities.signIns().endAll(changed.name());
    }
    return new Reply.Json(200, view(changed));
  }

  private static void checkRoles(Caller caller, Set<Role> before, Set<Role> after) {
    Administration.checkMayGive(caller, after);
    if (before.contains(Role.OPERATOR) && !caller.operator()) {
      throw new Rejection.Forbidden("operator-required", "only operators change other operators");
    }
  }

  private Reply listGroups(Request request) {
    return names(people.groups(administration.tenant(request)));
  }

  private Reply createGroup(Request request) {
    administration.checkPerson(request);
    var tenant = administration.tenant(request);
    var group = request.body(Named.class);
    people.createGroup(tenant, group.name());
    return new Reply.Json(201, group);
  }

  private Reply removeGroup(Request request) {
    administration.checkPerson(request);
    people.removeGroup(request.caller().tenant(), request.path("group"));
    return new Reply.Empty(204);
  }

  private Reply listTenants(Request request) {
    return names(people.tenants());
  }

  private Reply createTenant(Request request) {
    administration.checkPerson(request);
    var tenant = request.body(Named.class);
    people.createTenant(tenant.name());
    return new Reply.Json(201, tenant);
  }

  private static Reply names(Collection<String> names) {
    return new Reply.Json(200, new ResultPage<>(names.stream().map(Named::new).toList(), null));
  }

  static PersonView view(Person person) {
    return new PersonView(
        person.name(),
        person.displayName(),
        person.tenant(),
        person.roles().stream().sorted().map(Role::wire).toList(),
        List.copyOf(new TreeSet<>(person.groups())),
        person.disabled(),
        person.createdAt(),
        person.lastSignInAt());
  }
}
