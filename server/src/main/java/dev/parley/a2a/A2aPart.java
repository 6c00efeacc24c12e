package dev.parley.a2a;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A part of a message or an artifact.
public record A2aPart(
    PartContent content,
    @Nullable String filename,
    @Nullable String mediaType,
    @Nullable ObjectNode metadata) {

  /// The content of a part.
  public sealed interface PartContent {}

  /// Text.
  public record TextContent(String text) implements PartContent {}

  /// A file's bytes, in base64.
  public record RawContent(String base64) implements PartContent {}

  /// The address of a file.
  public record UrlContent(String url) implements PartContent {}

  /// Any JSON value. 0.3 has only objects: there, another value is sent as `{"value": …}`.
  public record DataContent(JsonNode value) implements PartContent {}

  /// A text part.
  public static A2aPart text(String text) {
    return new A2aPart(new TextContent(text), null, null, null);
  }

  /// A data part.
  public static A2aPart data(JsonNode value) {
    return new A2aPart(new DataContent(value), null, null, null);
  }
}
