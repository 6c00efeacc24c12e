package dev.parley.api.a2a;

import dev.parley.a2a.A2aVersion;
import dev.parley.http.AgentTypeView;
import dev.parley.http.ApiDependencies;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Parameter;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.RouteHandler;
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
      A2aSettings.A2aAccess a2aAccess) {
    this.parts = parts;
    this.taskReader = new A2aTaskReader(parts, settings.kagent());
    this.pushConfigs = pushes;
    this.settings = settings;
    addAll(a2aAccess);
  }

  public List<Route> routes() {
    return List.copyOf(routes);
  }

  private void addAll(A2aSettings.A2aAccess a2aAccess) {
    var a2aAgentResolver = new A2aAgentResolver(parts);
    var a2aOperations = new A2aOperations(parts, taskReader, pushConfigs, settings);
    var extensionNegotiation = new ExtensionNegotiation(settings.requiredExtensions());
    var agentCards =
        new AgentCards(
            settings, a2aAccess, pushConfigs, extensionNegotiation, parts.clock().instant());
    var rpc = new A2aJsonRpc(a2aAgentResolver, a2aOperations, agentCards, extensionNegotiation);
    for (var prefix : List.of(AGENT, KAGENT)) {
      // Some clients add a slash to the address from the agent card.
      add(Method.POST, prefix, "Calls an agent by A2A over JSON-RPC", rpc::handle);
      add(Method.POST, prefix + "/", "Calls an agent by A2A over JSON-RPC", rpc::handle);
      add(
          Method.GET,
          prefix,
          "Shows an agent's card",
          request ->
              agentCards.reply(
                  request, a2aAgentResolver.find(request), a2aAgentResolver.cardVersion(request)));
      card(prefix, a2aAgentResolver, agentCards, a2aAgentResolver::find);
    }
    card("", a2aAgentResolver, agentCards, _ -> a2aAgentResolver.defaultAgent());
    var rest =
        new A2aRestRoutes.A2aRestDependencies(
            a2aAgentResolver, a2aOperations, agentCards, extensionNegotiation, settings);
    var early = new A2aRestRoutes(rest, A2aVersion.V0_3);
    var now = new A2aRestRoutes(rest, A2aVersion.V1_0);
    routes.addAll(A2aRestPaths.of(AGENT + "/v1", early, A2aVersion.V0_3));
    routes.addAll(A2aRestPaths.of(AGENT, now, A2aVersion.V1_0));
    routes.addAll(A2aRestPaths.of(AGENT + "/{tenant}", now, A2aVersion.V1_0));
  }

  private void card(
      String prefix,
      A2aAgentResolver a2aAgentResolver,
      AgentCards agentCards,
      Function<Request, AgentTypeView> agent) {
    for (var path : List.of(AgentCards.PATH, AgentCards.EARLY_PATH)) {
      add(
          Method.GET,
          prefix + path,
          "Shows an agent's card",
          request -> {
            var found = agent.apply(request);
            return agentCards.reply(request, found, a2aAgentResolver.cardVersion(request));
          });
    }
  }

  private void add(Method method, String path, String summary, RouteHandler routeHandler) {
    routes.add(
        new Route(
            method,
            path,
            new Route.RouteDescription(
                summary, PARAMETERS, null, ResponseDescription.other(A2aRequestBody.JSON)),
            routeHandler));
  }
}
