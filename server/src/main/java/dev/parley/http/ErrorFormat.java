package dev.parley.http;

import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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

  /// The format for a path: the one with the longest prefix. The path is null if the request could
  /// not be parsed.
  static ErrorFormat of(List<ErrorFormat> formats, @Nullable String path) {
    return formats.stream()
        .filter(format -> path != null && format.covers(path))
        .max(Comparator.comparingInt(format -> format.prefix().length()))
        .orElse(DEFAULT);
  }

  private boolean covers(String path) {
    return path.startsWith(prefix)
        && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
  }
}
