package dev.parley.door;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A method and a path such as `/api/contexts/{c}`, their description, and the handler.
///
/// The description is both published in `/openapi.json` and enforced: a query parameter that is not
/// listed is rejected.
public record Route(Method method, String path, Description description, Handler handler) {

  /// The HTTP method of a route.
  public enum Method {
    GET,
    POST,
    PUT,
    PATCH,
    DELETE
  }

  /// The parameters, body and reply of a route.
  public record Description(
      String summary, List<Parameter> parameters, @Nullable Class<?> body, Answer answer) {
    public Description {
      parameters = List.copyOf(parameters);
    }
  }

  /// A `GET` route with parameters.
  public static Route get(
      String path, String summary, Answer answer, List<Parameter> parameters, Handler handler) {
    return new Route(Method.GET, path, new Description(summary, parameters, null, answer), handler);
  }

  /// A `GET` route without parameters.
  public static Route get(String path, String summary, Answer answer, Handler handler) {
    return get(path, summary, answer, List.of(), handler);
  }

  /// A WebSocket route: `handler` returns [Reply.Upgrade].
  public static Route socket(
      String path, String summary, List<Parameter> parameters, Handler handler) {
    return get(path, summary, Answer.socket(), parameters, handler);
  }

  /// A route that takes no body.
  public static Route act(
      Method method, String path, String summary, Answer answer, Handler handler) {
    return new Route(method, path, new Description(summary, List.of(), null, answer), handler);
  }

  /// A route that takes a JSON body.
  public static Route send(Method method, String path, Description description, Handler handler) {
    return new Route(method, path, description, handler);
  }

  List<String> segments() {
    return Router.split(path);
  }

  Set<String> queryNames() {
    return description.parameters().stream()
        .filter(parameter -> parameter.in() == Parameter.In.QUERY)
        .map(Parameter::name)
        .collect(Collectors.toUnmodifiableSet());
  }
}
