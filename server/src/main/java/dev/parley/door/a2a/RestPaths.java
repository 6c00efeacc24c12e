package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.door.Answer;
import dev.parley.door.Handler;
import dev.parley.door.Parameter;
import dev.parley.door.Route;
import dev.parley.door.Route.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The paths of the HTTP+JSON routes of one version.
final class RestPaths {

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
              A2aDoor.PARAMETERS.stream(),
              QUERY.stream()
                  .flatMap(name -> Stream.of(name, Camel.snake(name)).distinct())
                  .map(name -> Parameter.query(name, "see the A2A specification")))
          .toList();

  private static final String TASK = "/tasks/{task}";
  private static final String PUSH = TASK + "/pushNotificationConfigs";
  private static final Answer JSON = Answer.other(Bodies.JSON);

  private final List<Route> routes = new ArrayList<>();
  private final String prefix;

  private RestPaths(String prefix) {
    this.prefix = prefix;
  }

  /// The routes of a version below `prefix`.
  static List<Route> of(String prefix, RestRoutes rest, Version version) {
    var paths = new RestPaths(prefix);
    var early = version == Version.V0_3;
    paths.add(Method.POST, "/message:send", "Sends a message to an agent", JSON, rest.send());
    paths.add(
        Method.POST,
        "/message:stream",
        "Sends a message to an agent and streams the task",
        Answer.stream(),
        rest.stream());
    paths.add(Method.GET, "/tasks", "Lists an agent's tasks", JSON, rest.list());
    paths.add(Method.GET, TASK, "Shows a task; with :subscribe, streams it", JSON, rest.task());
    paths.add(Method.POST, TASK, "Does :cancel or :subscribe on a task", JSON, rest.act());
    paths.add(Method.POST, PUSH, "Registers a webhook for a task's updates", JSON, rest.keepPush());
    paths.add(Method.GET, PUSH, "Lists the webhooks of a task", JSON, rest.pushes());
    paths.add(Method.GET, PUSH + "/{config}", "Shows a webhook of a task", JSON, rest.push());
    paths.add(Method.DELETE, PUSH + "/{config}", "Removes a webhook", JSON, rest.dropPush());
    paths.add(
        Method.GET,
        early ? "/card" : "/extendedAgentCard",
        "Shows an agent's extended card; needs a token",
        JSON,
        rest.card());
    return paths.routes;
  }

  private void add(Method method, String path, String summary, Answer answer, Handler handler) {
    routes.add(
        new Route(
            method,
            prefix + path,
            new Route.Description(summary, PARAMETERS, null, answer),
            handler));
  }
}
