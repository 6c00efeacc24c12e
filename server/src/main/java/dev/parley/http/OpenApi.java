package dev.parley.http;

import dev.parley.protocol.EventSchema;
import dev.parley.protocol.Json;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `GET /openapi.json`: the descriptions of all routes, as OpenAPI 3.1.
final class OpenApi {

  private static final String ID_PATTERN = "^[A-Za-z0-9._:-]{1,128}$";

  private final List<Route> routes;
  private final List<ErrorFormat> forms;
  private final ObjectNode schemas = Json.object();
  private byte @Nullable [] encoded;

  OpenApi(List<Route> routes, List<ErrorFormat> forms) {
    this.routes = List.copyOf(routes);
    this.forms = forms;
  }

  Route route() {
    return Route.get(
        "/openapi.json",
        "Returns this document",
        ResponseDescription.other("application/json"),
        _ -> new Reply.Bytes("application/json", bytes()));
  }

  /// Encoded at the first request, because most servers are never asked for it.
  private synchronized byte[] bytes() {
    if (encoded == null) {
      encoded = Json.bytes(document());
    }
    return encoded;
  }

  private ObjectNode document() {
    var document = Json.object().put("openapi", "3.1.0");
    document.putObject("info").put("title", "Parley").put("version", "1");
    var paths = document.putObject("paths");
    for (var route : routes) {
      var path = paths.withObject("/" + route.path().replace("~", "~0").replace("/", "~1"));
      path.set(route.method().name().toLowerCase(Locale.ROOT), operation(route));
    }
    schemas.set("Problem", problem());
    var components = document.putObject("components");
    components.set("schemas", schemas);
    components
        .putObject("securitySchemes")
        .putObject("token")
        .put("type", "http")
        .put("scheme", "bearer");
    return document;
  }

  private ObjectNode operation(Route route) {
    var operation = Json.object().put("summary", route.description().summary());
    var parameters = operation.putArray("parameters");
    for (var segment : route.segments()) {
      if (segment.startsWith("{")) {
        var parameter = parameters.addObject();
        parameter.put("name", segment.substring(1, segment.length() - 1));
        parameter.put("in", "path").put("required", true);
        parameter.putObject("schema").put("type", "string").put("pattern", ID_PATTERN);
      }
    }
    for (var given : route.description().parameters()) {
      if (given.equals(Parameter.ANY_OTHER)) {
        continue;
      }
      var parameter = parameters.addObject().put("name", given.name());
      parameter.put("in", lower(given.in())).put("description", given.description());
      parameter.putObject("schema").put("type", lower(given.type()));
    }
    var body = route.description().body();
    if (body != null) {
      var sent = operation.putObject("requestBody").put("required", true).putObject("content");
      sent.putObject("application/json").set("schema", reference(body));
    }
    var responses = operation.putObject("responses");
    answer(responses, route.description().answer());
    var failure = responses.putObject("default").put("description", "A problem");
    var form = ErrorFormat.of(forms, route.path());
    var content = failure.putObject("content").putObject(form.contentType());
    if (form.equals(ErrorFormat.DEFAULT)) {
      content.putObject("schema").put("$ref", "#/components/schemas/Problem");
    }
    return operation;
  }

  private void answer(ObjectNode responses, ResponseDescription responseDescription) {
    var response = responses.putObject(Integer.toString(responseDescription.status()));
    response.put(
        "description",
        switch (responseDescription.status()) {
          case 101 -> "A WebSocket";
          case 204 -> "Done";
          default -> "Success";
        });
    if (responseDescription.contentType().isEmpty()) {
      return;
    }
    var content = response.putObject("content").putObject(responseDescription.contentType());
    if (responseDescription.type() == null) {
      return;
    }
    switch (responseDescription.shape()) {
      case ONE -> content.set("schema", reference(responseDescription.type()));
      case PAGE -> content.set("schema", page(responseDescription.type()));
      case NONE -> {}
    }
  }

  private ObjectNode page(Class<?> type) {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    properties.putObject("items").put("type", "array").set("items", reference(type));
    properties.putObject("nextCursor").put("type", "string");
    schema.putArray("required").add("items");
    return schema;
  }

  private ObjectNode reference(Class<?> type) {
    var name = type.getSimpleName();
    if (!schemas.has(name)) {
      schemas.set(name, EventSchema.record(type));
    }
    return Json.object().put("$ref", "#/components/schemas/" + name);
  }

  private static ObjectNode problem() {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    for (var name : List.of("type", "title", "detail", "code", "instance")) {
      properties.putObject(name).put("type", "string");
    }
    properties.putObject("status").put("type", "integer");
    return schema;
  }

  private static String lower(Enum<?> name) {
    return name.name().toLowerCase(Locale.ROOT);
  }
}
