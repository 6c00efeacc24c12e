package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.door.AgentType;
import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.ErrorForm;
import dev.parley.door.Handler;
import dev.parley.door.Parameter;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.Route.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/// The A2A API: creates its routes.
public final class A2aDoor {

  /// The error format for requests that fail before they reach a route.
  public static final List<ErrorForm> ERRORS =
      Stream.of("/a2a", "/api/a2a").map(path -> ErrorForm.json(path, RestErrors::body)).toList();

  /// The version is in the header or in the query. Unknown parameters are ignored.
  static final List<Parameter> PARAMETERS =
      List.of(
          Parameter.header(Version.HEADER, "0.3 or 1.0; 0.3 if it is missing"),
          Parameter.query(Version.HEADER, "the same, for clients that cannot send headers"),
          Parameter.OTHERS);

  private static final String AGENT = "/a2a/{agent}";

  /// The path that kagent clients use. The namespace is ignored: agents here have none.
  private static final String KAGENT = "/api/a2a/{namespace}/{agent}";

  private final DoorParts parts;
  private final TaskForm form;
  private final PushDesk pushes;
  private final A2aSettings settings;
  private final List<Route> routes = new ArrayList<>();

  public A2aDoor(
      DoorParts parts, PushDesk pushes, A2aSettings settings, A2aSettings.Access access) {
    this.parts = parts;
    this.form = new TaskForm(parts, settings.kagent());
    this.pushes = pushes;
    this.settings = settings;
    addAll(access);
  }

  public List<Route> routes() {
    return List.copyOf(routes);
  }

  private void addAll(A2aSettings.Access access) {
    var agents = new Agents(parts);
    var operations = new Operations(parts, form, pushes, settings);
    var negotiation = new Negotiation(settings.requiredExtensions());
    var cards = new Cards(settings, access, pushes, negotiation, parts.clock().instant());
    var rpc = new JsonRpc(agents, operations, cards, negotiation);
    for (var prefix : List.of(AGENT, KAGENT)) {
      // Some clients add a slash to the address from the agent card.
      add(Method.POST, prefix, "Calls an agent by A2A over JSON-RPC", rpc::handle);
      add(Method.POST, prefix + "/", "Calls an agent by A2A over JSON-RPC", rpc::handle);
      add(
          Method.GET,
          prefix,
          "Shows an agent's card",
          request -> cards.answer(request, agents.find(request), agents.cardVersion(request)));
      card(prefix, agents, cards, agents::find);
    }
    card("", agents, cards, _ -> agents.standard());
    var rest = new RestRoutes.Parts(agents, operations, cards, negotiation, settings);
    var early = new RestRoutes(rest, Version.V0_3);
    var now = new RestRoutes(rest, Version.V1_0);
    routes.addAll(RestPaths.of(AGENT + "/v1", early, Version.V0_3));
    routes.addAll(RestPaths.of(AGENT, now, Version.V1_0));
    routes.addAll(RestPaths.of(AGENT + "/{tenant}", now, Version.V1_0));
  }

  private void card(String prefix, Agents agents, Cards cards, Function<Request, AgentType> agent) {
    for (var path : List.of(Cards.PATH, Cards.EARLY_PATH)) {
      add(
          Method.GET,
          prefix + path,
          "Shows an agent's card",
          request -> {
            var found = agent.apply(request);
            return cards.answer(request, found, agents.cardVersion(request));
          });
    }
  }

  private void add(Method method, String path, String summary, Handler handler) {
    routes.add(
        new Route(
            method,
            path,
            new Route.Description(summary, PARAMETERS, null, Answer.other(Bodies.JSON)),
            handler));
  }
}
