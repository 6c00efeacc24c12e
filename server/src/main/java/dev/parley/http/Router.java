package dev.parley.http;

import dev.parley.http.Problem.HttpProblemException;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Finds the route of a request. Literal segments take precedence over variables.
final class Router {

  private final Node root = new Node();
  private final List<Route> routes;

  Router(List<Route> routes) {
    this.routes = List.copyOf(routes);
    this.routes.forEach(this::add);
  }

  /// A route, and the values of its variables in this request.
  record Match(Route route, Map<String, String> variables) {}

  private static final class Node {
    final Map<String, Node> literals = new HashMap<>();
    @Nullable Node variable;
    final Map<Route.Method, Route> routes = new LinkedHashMap<>();
  }

  List<Route> routes() {
    return routes;
  }

  /// The route for `method` and the decoded `segments` of a path.
  Match find(String method, List<String> segments) {
    var node = node(root, segments, 0);
    if (node == null) {
      throw new Rejection.NotFound("there is nothing at this path");
    }
    var wanted = method.equals("HEAD") ? "GET" : method;
    for (var route : node.routes.values()) {
      if (route.method().name().equals(wanted)) {
        return new Match(route, variables(route, segments));
      }
    }
    var allowed = allowed(node);
    throw new HttpProblemException(
        new Reply.Rejected(
            Problem.of(405, "method-not-allowed", "this path allows " + allowed),
            Map.of("Allow", allowed)));
  }

  /// The methods that a path allows, for `OPTIONS`.
  String allowed(List<String> segments) {
    var node = node(root, segments, 0);
    if (node == null) {
      throw new Rejection.NotFound("there is nothing at this path");
    }
    return allowed(node);
  }

  static List<String> split(String path) {
    var segments = new ArrayList<String>();
    var from = 1;
    for (var i = 1; i <= path.length(); i++) {
      if (i == path.length() || path.charAt(i) == '/') {
        segments.add(path.substring(from, i));
        from = i + 1;
      }
    }
    return segments;
  }

  private void add(Route route) {
    var node = root;
    for (var segment : route.segments()) {
      if (segment.startsWith("{")) {
        if (node.variable == null) {
          node.variable = new Node();
        }
        node = node.variable;
      } else {
        node = node.literals.computeIfAbsent(segment, _ -> new Node());
      }
    }
    if (node.routes.put(route.method(), route) != null) {
      throw new IllegalArgumentException("two routes for " + route.method() + " " + route.path());
    }
  }

  private static @Nullable Node node(Node node, List<String> segments, int depth) {
    if (depth == segments.size()) {
      return node.routes.isEmpty() ? null : node;
    }
    var literal = node.literals.get(segments.get(depth));
    var found = literal == null ? null : node(literal, segments, depth + 1);
    if (found != null || node.variable == null) {
      return found;
    }
    return node(node.variable, segments, depth + 1);
  }

  private static Map<String, String> variables(Route route, List<String> segments) {
    var variables = new HashMap<String, String>();
    var names = route.segments();
    for (var i = 0; i < names.size(); i++) {
      var name = names.get(i);
      if (name.startsWith("{")) {
        variables.put(name.substring(1, name.length() - 1), segments.get(i));
      }
    }
    return Map.copyOf(variables);
  }

  private static String allowed(Node node) {
    var methods = new TreeSet<String>();
    node.routes.keySet().forEach(method -> methods.add(method.name()));
    if (methods.contains("GET")) {
      methods.add("HEAD");
    }
    methods.add("OPTIONS");
    return String.join(", ", methods);
  }
}
