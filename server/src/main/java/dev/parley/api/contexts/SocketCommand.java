package dev.parley.api.contexts;

import dev.parley.http.Parameter;
import dev.parley.http.WebSocketConnection;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.stream.EventFilter;
import dev.parley.stream.WindowedEncoder;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A message of a client on the WebSocket. `id` is chosen by the client, and is repeated in the
/// reply.
record SocketCommand(String type, @Nullable JsonNode id, JsonNode fields) {

  private static final int ID_CHARACTERS = 128;

  private static final Set<String> FILTERS =
      EventFilter.PARAMETERS.stream().map(Parameter::name).collect(Collectors.toUnmodifiableSet());

  /// Parses a message.
  ///
  /// @throws Rejection.Invalid if it is malformed
  static SocketCommand read(String text) {
    var fields = WebSocketConnection.parseJson(text);
    var type = fields.path("type");
    if (!type.isString()) {
      throw new Rejection.Invalid(
          "a message is an object with a type: subscribe, unsubscribe, ack or ping");
    }
    return new SocketCommand(type.asString(), id(fields), fields);
  }

  private static @Nullable JsonNode id(JsonNode fields) {
    var id = fields.get("id");
    if (id == null || id.isNull()) {
      return null;
    }
    if ((id.isString() || id.isIntegralNumber()) && id.asString().length() <= ID_CHARACTERS) {
      return id;
    }
    throw new Rejection.Invalid(
        "id must be a whole number, or a string of at most " + ID_CHARACTERS + " characters");
  }

  /// Rejects unknown fields: a misspelled filter would let all events pass.
  void checkFields(String... names) {
    var known = new HashSet<>(Set.of(names));
    known.add("type");
    known.add("id");
    for (var name : fields.propertyNames()) {
      if (!known.contains(name)) {
        throw new Rejection.Invalid("unknown-parameter", "there is no parameter " + name);
      }
    }
  }

  ContextId context() {
    var context = fields.path("contextId");
    if (!context.isString()) {
      throw new Rejection.Invalid("contextId is required and must be a string");
    }
    return new ContextId(context.asString());
  }

  /// The subscription that the client requests.
  WindowedEncoder.SubscriptionRequest subscriptionRequest(Views views) {
    var names = new HashSet<>(FILTERS);
    names.addAll(Set.of("contextId", "after", "window"));
    checkFields(names.toArray(String[]::new));
    var context = context();
    return new WindowedEncoder.SubscriptionRequest(
        context,
        text("after").map(Position::parse).orElse(Position.START),
        EventFilter.of(this::text, task -> views.parentOf(context, task)),
        window());
  }

  Position position() {
    return text("position")
        .map(Position::parse)
        .orElseThrow(() -> new Rejection.Invalid("position is required"));
  }

  private int window() {
    var window = fields.path("window");
    if (window.isMissingNode() || window.isNull()) {
      return 0;
    }
    if (!window.isInt() || window.asInt() < 1 || window.asInt() > WindowedEncoder.WINDOW_MAX) {
      throw new Rejection.Invalid(
          "window must be a whole number from 1 to " + WindowedEncoder.WINDOW_MAX);
    }
    return window.asInt();
  }

  /// A field in the syntax of a query parameter: lists are separated by commas.
  private Optional<String> text(String name) {
    var value = fields.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    if (value.isArray()) {
      return Optional.of(
          value.valueStream().map(item -> plain(name, item)).collect(Collectors.joining(",")));
    }
    return Optional.of(plain(name, value));
  }

  private static String plain(String name, JsonNode value) {
    if (value.isObject() || value.isArray()) {
      throw new Rejection.Invalid(name + " must be a plain value");
    }
    return value.asString();
  }
}
