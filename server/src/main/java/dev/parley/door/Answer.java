package dev.parley.door;

import org.jspecify.annotations.Nullable;

/// Describes the reply of a route when the request succeeds.
public record Answer(int status, Shape shape, @Nullable Class<?> type, String contentType) {

  private static final String JSON = "application/json";

  /// How the reply contains the type.
  public enum Shape {
    /// One object.
    ONE,
    /// The items of a page.
    PAGE,
    /// Not as JSON, or no body at all.
    NONE
  }

  /// One JSON object.
  public static Answer one(int status, Class<?> type) {
    return new Answer(status, Shape.ONE, type, JSON);
  }

  /// One JSON object, with status 200.
  public static Answer one(Class<?> type) {
    return one(200, type);
  }

  /// A page of JSON objects.
  public static Answer page(Class<?> type) {
    return new Answer(200, Shape.PAGE, type, JSON);
  }

  /// A body that has no schema.
  public static Answer other(String contentType) {
    return new Answer(200, Shape.NONE, null, contentType);
  }

  /// A stream of events.
  public static Answer stream() {
    return other("text/event-stream");
  }

  /// A WebSocket.
  public static Answer socket() {
    return new Answer(101, Shape.NONE, null, "");
  }

  /// No body.
  public static Answer empty() {
    return new Answer(204, Shape.NONE, null, "");
  }
}
