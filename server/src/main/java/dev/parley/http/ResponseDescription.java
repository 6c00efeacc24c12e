package dev.parley.http;

import org.jspecify.annotations.Nullable;

/// Describes the reply of a route when the request succeeds.
public record ResponseDescription(
    int status, BodyShape shape, @Nullable Class<?> type, String contentType) {

  private static final String JSON = "application/json";

  /// How the reply contains the type.
  public enum BodyShape {
    /// One object.
    ONE,
    /// The items of a page.
    PAGE,
    /// Not as JSON, or no body at all.
    NONE
  }

  /// One JSON object.
  public static ResponseDescription one(int status, Class<?> type) {
    return new ResponseDescription(status, BodyShape.ONE, type, JSON);
  }

  /// One JSON object, with status 200.
  public static ResponseDescription one(Class<?> type) {
    return one(200, type);
  }

  /// A page of JSON objects.
  public static ResponseDescription page(Class<?> type) {
    return new ResponseDescription(200, BodyShape.PAGE, type, JSON);
  }

  /// A body that has no schema.
  public static ResponseDescription other(String contentType) {
    return new ResponseDescription(200, BodyShape.NONE, null, contentType);
  }

  /// A stream of events.
  public static ResponseDescription stream() {
    return other("text/event-stream");
  }

  /// A WebSocket.
  public static ResponseDescription socket() {
    return new ResponseDescription(101, BodyShape.NONE, null, "");
  }

  /// No body.
  public static ResponseDescription empty() {
    return new ResponseDescription(204, BodyShape.NONE, null, "");
  }
}
