package dev.parley.door;

import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/// How the door at `prefix`, and at all paths below it, says that a request failed.
public record ErrorForm(String prefix, String contentType, Function<Problem, ObjectNode> body) {

  static final String PROBLEM = "application/problem+json";

  /// What is used where no door has a form of its own.
  static final ErrorForm USUAL = new ErrorForm("", PROBLEM, Problem::json);

  /// Plain JSON, as a door without problem documents has it.
  public static ErrorForm json(String prefix, Function<Problem, ObjectNode> body) {
    return new ErrorForm(prefix, "application/json", body);
  }

  boolean covers(String path) {
    return path.startsWith(prefix)
        && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
  }
}
