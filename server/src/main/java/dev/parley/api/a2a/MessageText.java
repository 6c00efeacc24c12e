package dev.parley.api.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Converts a message to text for an agent.
final class MessageText {

  private static final int FILE_MAX = 100_000;

  private MessageText() {}

  /// The message's text, data as JSON, and files: their content if it is text, or else only their
  /// names.
  static String of(A2aMessage message) {
    var pieces = new ArrayList<String>();
    for (var part : message.parts()) {
      var text =
          switch (part.content()) {
            case A2aPart.TextContent(var said) -> said;
            case A2aPart.DataContent(var value) -> value.toString();
            case A2aPart.UrlContent(var url) -> named(part) + " at " + url;
            case A2aPart.RawContent(var base64) ->
                text(part.mediaType(), base64)
                    .map(content -> named(part) + ":\n" + content)
                    .orElseGet(() -> named(part));
          };
      if (!text.isBlank()) {
        pieces.add(text);
      }
    }
    return String.join("\n", pieces);
  }

  private static String named(A2aPart part) {
    return "The file "
        + (part.filename() == null ? "without a name" : part.filename())
        + (part.mediaType() == null ? "" : " (" + part.mediaType() + ")");
  }

  private static Optional<String> text(@Nullable String mediaType, String base64) {
    var textual =
        mediaType == null
            || mediaType.startsWith("text/")
            || mediaType.contains("json")
            || mediaType.contains("xml");
    if (!textual || base64.length() > FILE_MAX) {
      return Optional.empty();
    }
    try {
      var bytes = Base64.getMimeDecoder().decode(base64);
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (IllegalArgumentException | CharacterCodingException notText) {
      return Optional.empty();
    }
  }
}
