package dev.parley.api.a2a;

import dev.parley.a2a.A2aVersion;
import dev.parley.api.ApiDependencies;
import dev.parley.api.a2a.A2aRestRoutes.A2aRestErrors;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Parameter;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.Route.RouteHandler;
import dev.parley.identity.Action;
import dev.parley.protocol.AgentTypeView;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/// The A2A API: creates its routes.
public final class A2aApi {

  /// The error format for requests that fail before they reach a route.
  public static final List<ErrorFormat> ERRORS =
      Stream.of("/a2a", "/api/a2a")
          .map(path -> ErrorFormat.json(path, A2aRestErrors::body))
          .toList();

  /// The version is in the header or in the query. Unknown parameters are ignored.
  static final List<Parameter> PARAMETERS =
      List.of(
          Parameter.header(A2aVersion.HEADER, "0.3 or 1.0; 0.3 if it is missing"),
          Parameter.query(A2aVersion.HEADER, "the same, for clients that cannot send headers"),
          Parameter.ANY_OTHER);

  private static final String AGENT = "/a2a/{agent}";

  /// The path that kagent clients use. The namespace is ignored: agents here have none.
  private static final String KAGENT = "/api/a2a/{namespace}/{agent}";

  private final ApiDependencies parts;
  private final A2aTaskReader taskReader;
  private final PushConfigRegistry pushConfigs;
  private final A2aSettings settings;
  private final List<Route> routes = new ArrayList<>();

  public A2aApi(
      ApiDependencies parts,
      PushConfigRegistry pushes,
      A2aSettings settings,
      A2aSettings.A2aAccess access) {
    this.parts = parts;
    this.taskReader = new A2aTaskReader(parts, settings.kagent());
    this.pushConfigs = pushes;
    this.settings = settings;
    addAll(access);
  }

  public List<Route> routes() {
    return List.copyOf(routes);
  }

  private void addAll(A2aSettings.A2aAccess access) {
    var agents = new A2aAgentResolver(parts);
    var operations = new A2aOperations(parts, taskReader, pushConfigs, settings);
    var negotiation = new ExtensionNegotiation(settings.requiredExtensions());
    var cards = new AgentCards(settings, access, negotiation, parts.time().instant());
    var rpc = new A2aJsonRpc(agents, operations, cards, negotiation);
    for (var prefix : List.of(AGENT, KAGENT)) {
      // Some clients add a slash to the address from the agent card.
      add(Method.POST, prefix, "Calls an agent by A2A over JSON-RPC", rpc::handle);
      add(Method.POST, prefix + "/", "Calls an agent by A2A over JSON-RPC", rpc::handle);
      add(
          Method.GET,
          prefix,
          "Shows an agent's card",
          request -> cards.reply(request, agents.find(request), agents.cardVersion(request)));
      card(prefix, agents, cards, agents::find);
    }
    card("", agents, cards, _ -> agents.defaultAgent());
    var rest =
        new A2aRestRoutes.A2aRestDependencies(agents, operations, cards, negotiation, settings);
    var early = new A2aRestRoutes(rest, A2aVersion.V0_3);
    var now = new A2aRestRoutes(rest, A2aVersion.V1_0);
    routes.addAll(early.routes(AGENT + "/v1"));
    routes.addAll(now.routes(AGENT));
    routes.addAll(now.routes(AGENT + "/{tenant}"));
  }

  private void card(
      String prefix,
      A2aAgentResolver agents,
      AgentCards cards,
      Function<Request, AgentTypeView> agent) {
    for (var path : List.of(AgentCards.PATH, AgentCards.EARLY_PATH)) {
      add(
          Method.GET,
          prefix + path,
          "Shows an agent's card",
          request -> {
            var found = agent.apply(request);
            return cards.reply(request, found, agents.cardVersion(request));
          });
    }
  }

  private void add(Method method, String path, String summary, RouteHandler handler) {
    routes.add(
        new Route(
            method,
            path,
            new Route.RouteDescription(
                summary, PARAMETERS, null, ResponseDescription.other(A2aRequestBody.JSON)),
            // A method of JSON-RPC decides itself what else it needs.
            Action.READ,
            handler));
  }
}
