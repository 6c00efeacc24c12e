package dev.parley.http;

import dev.parley.identity.Action;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A method and a path such as `/api/contexts/{c}`, their description, and the handler.
///
/// The description is both published in `/openapi.json` and enforced: a query parameter that is not
/// listed is rejected.
///
/// @param action what requests do to the resource that the path names
public record Route(
    Method method, String path, RouteDescription description, Action action, RouteHandler handler) {

  /// A route that reads if its method is `GET`, and that writes otherwise.
  public Route(Method method, String path, RouteDescription description, RouteHandler handler) {
    this(method, path, description, method == Method.GET ? Action.READ : Action.WRITE, handler);
  }

  /// The same route with another action.
  public Route doing(Action other) {
    return new Route(method, path, description, other, handler);
  }

  /// The same route with another handler.
  public Route handledBy(RouteHandler other) {
    return new Route(method, path, description, action, other);
  }

  /// The HTTP method of a route.
  public enum Method {
    GET,
    POST,
    PUT,
    PATCH,
    DELETE
  }

  /// The parameters, body and reply of a route.
  public record RouteDescription(
      String summary,
      List<Parameter> parameters,
      @Nullable Class<?> body,
      ResponseDescription answer) {
    public RouteDescription {
      parameters = List.copyOf(parameters);
    }
  }

  /// A `GET` route with parameters.
  public static Route get(
      String path,
      String summary,
      ResponseDescription answer,
      List<Parameter> parameters,
      RouteHandler handler) {
    return new Route(
        Method.GET, path, new RouteDescription(summary, parameters, null, answer), handler);
  }

  /// A `GET` route without parameters.
  public static Route get(
      String path, String summary, ResponseDescription answer, RouteHandler handler) {
    return get(path, summary, answer, List.of(), handler);
  }

  /// A WebSocket route: `handler` returns [Reply.Upgrade].
  public static Route webSocket(
      String path, String summary, List<Parameter> parameters, RouteHandler handler) {
    return get(path, summary, ResponseDescription.socket(), parameters, handler);
  }

  /// A route that takes no body.
  public static Route withoutBody(
      Method method,
      String path,
      String summary,
      ResponseDescription answer,
      RouteHandler handler) {
    return new Route(method, path, new RouteDescription(summary, List.of(), null, answer), handler);
  }

  /// A route that takes a JSON body.
  public static Route withBody(
      Method method, String path, RouteDescription description, RouteHandler handler) {
    return new Route(method, path, description, handler);
  }

  List<String> segments() {
    return Router.split(path);
  }

  /// The names of the variables in the path.
  List<String> variableNames() {
    return segments().stream()
        .filter(segment -> segment.startsWith("{"))
        .map(segment -> segment.substring(1, segment.length() - 1))
        .toList();
  }

  Set<String> queryNames() {
    return description.parameters().stream()
        .filter(parameter -> parameter.in() == Parameter.In.QUERY)
        .map(Parameter::name)
        .collect(Collectors.toUnmodifiableSet());
  }

  /// Handles the requests of one route.
  @FunctionalInterface
  public interface RouteHandler {

    /// Returns the reply. May block: every request has its own virtual thread.
    ///
    /// @throws Rejection if the request is rejected; it becomes a problem document
    Reply handle(Request request);
  }
}
