package dev.parley.server;

import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// One operation of the server, as `/openapi.json` describes it.
///
/// `body` is the schema of its body; null if it has none, or if the document does not describe it.
record FuzzOperation(
    String method,
    String path,
    List<Parameter> parameters,
    @Nullable JsonNode body,
    boolean socket) {

  /// A parameter in the query or a header.
  record Parameter(String name, boolean header) {}

  FuzzOperation {
    parameters = List.copyOf(parameters);
  }

  /// All operations of this document.
  static List<FuzzOperation> all(String openApi) {
    var document = Json.mapper().readTree(openApi);
    var operations = new ArrayList<FuzzOperation>();
    for (var path : document.path("paths").properties()) {
      for (var operation : path.getValue().properties()) {
        operations.add(
            new FuzzOperation(
                operation.getKey().toUpperCase(Locale.ROOT),
                path.getKey(),
                parameters(operation.getValue()),
                body(document, operation.getValue()),
                operation.getValue().path("responses").has("101")));
      }
    }
    return operations;
  }

  private static List<Parameter> parameters(JsonNode operation) {
    return operation
        .path("parameters")
        .valueStream()
        .filter(parameter -> !parameter.path("in").asString().equals("path"))
        .map(
            parameter ->
                new Parameter(
                    parameter.path("name").asString(),
                    parameter.path("in").asString().equals("header")))
        .toList();
  }

  private static @Nullable JsonNode body(JsonNode document, JsonNode operation) {
    var schema = operation.at("/requestBody/content/application~1json/schema");
    if (schema.isMissingNode()) {
      return null;
    }
    return schema.has("$ref") ? document.at(schema.path("$ref").asString().substring(1)) : schema;
  }

  @Override
  public String toString() {
    return method + " " + path;
  }
}
