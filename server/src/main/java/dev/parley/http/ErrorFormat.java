package dev.parley.http;

import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/// The format of error replies for `prefix` and all paths below it.
public record ErrorFormat(String prefix, String contentType, Function<Problem, ObjectNode> body) {

  static final String PROBLEM = "application/problem+json";

  /// The format for paths without one of their own.
  static final ErrorFormat DEFAULT = new ErrorFormat("", PROBLEM, Problem::json);

  /// Plain JSON, for an API that does not use problem documents.
  public static ErrorFormat json(String prefix, Function<Problem, ObjectNode> body) {
    return new ErrorFormat(prefix, "application/json", body);
  }

  boolean covers(String path) {
    return path.startsWith(prefix)
        && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
  }
}
