package dev.parley.a2a;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A piece of a message or an artifact.
public record WirePart(
    Content content,
    @Nullable String filename,
    @Nullable String mediaType,
    @Nullable ObjectNode metadata) {

  /// What a part holds.
  public sealed interface Content {}

  /// Words.
  public record Text(String text) implements Content {}

  /// A file's bytes, in base64.
  public record Raw(String base64) implements Content {}

  /// Where a file is.
  public record Url(String url) implements Content {}

  /// Any JSON value. 0.3 has objects only: there another value travels as `{"value": …}`.
  public record Data(JsonNode value) implements Content {}

  /// Words and nothing else.
  public static WirePart text(String text) {
    return new WirePart(new Text(text), null, null, null);
  }

  /// A JSON value and nothing else.
  public static WirePart data(JsonNode value) {
    return new WirePart(new Data(value), null, null, null);
  }
}
