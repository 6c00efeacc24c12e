package dev.parley.api.a2a;

import dev.parley.a2a.A2aVersion;
import dev.parley.http.Parameter;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.RouteHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The paths of the HTTP+JSON routes of one version.
final class A2aRestPaths {

  /// The known query parameters.
  static final List<String> QUERY =
      List.of(
          "contextId",
          "status",
          "pageSize",
          "pageToken",
          "historyLength",
          "statusTimestampAfter",
          "includeArtifacts",
          "tenant");

  private static final List<Parameter> PARAMETERS =
      Stream.concat(
              A2aApi.PARAMETERS.stream(),
              QUERY.stream()
                  .flatMap(name -> Stream.of(name, ProtoJsonNames.toSnakeCase(name)).distinct())
                  .map(name -> Parameter.query(name, "see the A2A specification")))
          .toList();

  private static final String TASK = "/tasks/{task}";
  private static final String PUSH = TASK + "/pushNotificationConfigs";
  private static final ResponseDescription JSON = ResponseDescription.other(A2aRequestBody.JSON);

  private final List<Route> routes = new ArrayList<>();
  private final String prefix;

  private A2aRestPaths(String prefix) {
    this.prefix = prefix;
  }

  /// The routes of a version below `prefix`.
  static List<Route> of(String prefix, A2aRestRoutes rest, A2aVersion a2aVersion) {
    var paths = new A2aRestPaths(prefix);
    var early = a2aVersion == A2aVersion.V0_3;
    paths.add(Method.POST, "/message:send", "Sends a message to an agent", JSON, rest.send());
    paths.add(
        Method.POST,
        "/message:stream",
        "Sends a message to an agent and streams the task",
        ResponseDescription.stream(),
        rest.stream());
    paths.add(Method.GET, "/tasks", "Lists an agent's tasks", JSON, rest.list());
    paths.add(Method.GET, TASK, "Shows a task; with :subscribe, streams it", JSON, rest.task());
    paths.add(Method.POST, TASK, "Does :cancel or :subscribe on a task", JSON, rest.taskAction());
    paths.add(
        Method.POST, PUSH, "Registers a webhook for a task's updates", JSON, rest.createPush());
    paths.add(Method.GET, PUSH, "Lists the webhooks of a task", JSON, rest.listPushes());
    paths.add(Method.GET, PUSH + "/{config}", "Shows a webhook of a task", JSON, rest.push());
    paths.add(Method.DELETE, PUSH + "/{config}", "Removes a webhook", JSON, rest.deletePush());
    paths.add(
        Method.GET,
        early ? "/card" : "/extendedAgentCard",
        "Shows an agent's extended card; needs a token",
        JSON,
        rest.card());
    return paths.routes;
  }

  private void add(
      Method method,
      String path,
      String summary,
      ResponseDescription responseDescription,
      RouteHandler routeHandler) {
    routes.add(
        new Route(
            method,
            prefix + path,
            new Route.RouteDescription(summary, PARAMETERS, null, responseDescription),
            routeHandler));
  }
}
