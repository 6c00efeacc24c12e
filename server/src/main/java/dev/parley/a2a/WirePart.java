package dev.parley.a2a;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A part of a message or an artifact.
public record WirePart(
    Content content,
    @Nullable String filename,
    @Nullable String mediaType,
    @Nullable ObjectNode metadata) {

  /// The content of a part.
  public sealed interface Content {}

  /// Text.
  public record Text(String text) implements Content {}

  /// A file's bytes, in base64.
  public record Raw(String base64) implements Content {}

  /// The address of a file.
  public record Url(String url) implements Content {}

  /// Any JSON value. 0.3 has only objects: there, another value is sent as `{"value": …}`.
  public record Data(JsonNode value) implements Content {}

  /// A text part.
  public static WirePart text(String text) {
    return new WirePart(new Text(text), null, null, null);
  }

  /// A data part.
  public static WirePart data(JsonNode value) {
    return new WirePart(new Data(value), null, null, null);
  }
}
