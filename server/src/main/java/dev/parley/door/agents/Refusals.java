package dev.parley.door.agents;

import dev.parley.door.Handler;
import dev.parley.door.Problem;
import dev.parley.door.Reply;
import dev.parley.door.Route;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Map;

/// Tells what went wrong in two dialects at once: as a problem, and with the fields that clients of this
/// door look for, `statusCode`, `message` and `error`.
final class Refusals {

  private Refusals() {}

  static List<Route> in(List<Route> routes) {
    return routes.stream()
        .map(
            route ->
                new Route(route.method(), route.path(), route.description(), told(route.handler())))
        .toList();
  }

  private static Handler told(Handler handler) {
    return request -> {
      try {
        return handler.handle(request);
      } catch (Rejection rejection) {
        return refused(rejection);
      }
    };
  }

  private static Reply refused(Rejection rejection) {
    var problem = Problem.of(rejection);
    var both =
        new Problem(
            problem.status(),
            problem.title(),
            problem.code(),
            problem.detail(),
            problem.instance(),
            Map.of(
                "statusCode", problem.status(),
                "message", problem.detail(),
                "error", problem.title()));
    return new Reply.Refused(
        both,
        rejection instanceof Rejection.Busy || rejection instanceof Rejection.Unavailable
            ? Map.of("Retry-After", "1")
            : Map.of());
  }
}
