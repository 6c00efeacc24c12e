package dev.parley.door;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A method and a path such as `/api/contexts/{c}`, what is to be known of them, and who answers.
///
/// What stands here is both what `/openapi.json` says and what is enforced: a query parameter that is
/// not listed is refused.
public record Route(Method method, String path, Description description, Handler handler) {

  /// What a route may be asked with.
  public enum Method {
    GET,
    POST,
    PUT,
    PATCH,
    DELETE
  }

  /// What a route takes and gives.
  public record Description(
      String summary, List<Parameter> parameters, @Nullable Class<?> body, Answer answer) {
    public Description {
      parameters = List.copyOf(parameters);
    }
  }

  /// Reads something.
  public static Route get(
      String path, String summary, Answer answer, List<Parameter> parameters, Handler handler) {
    return new Route(Method.GET, path, new Description(summary, parameters, null, answer), handler);
  }

  /// Reads something that has no parameters.
  public static Route get(String path, String summary, Answer answer, Handler handler) {
    return get(path, summary, answer, List.of(), handler);
  }

  /// Talks with whoever comes with a WebSocket: `handler` answers with [Reply.Upgrade].
  public static Route socket(
      String path, String summary, List<Parameter> parameters, Handler handler) {
    return get(path, summary, Answer.socket(), parameters, handler);
  }

  /// Does something without a body.
  public static Route act(
      Method method, String path, String summary, Answer answer, Handler handler) {
    return new Route(method, path, new Description(summary, List.of(), null, answer), handler);
  }

  /// Does something with a JSON body.
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
