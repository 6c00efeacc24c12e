package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aPart;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/// The media types that agents read and write: text formats, and the configured types.
///
/// @param configured additional types that agents read; `*/*` is every type
record MediaTypes(List<String> configured) {

  private static final String ANY = "*/*";

  /// The text types in agent cards.
  private static final List<String> TEXT_TYPES =
      List.of("text/plain", "text/markdown", "text/csv", "text/html", "application/json");

  /// The output modes in agent cards.
  static final List<String> OUTPUT_MODES =
      List.of("text/plain", "text/markdown", "application/json");

  private static final Set<String> TEXTUAL_TYPES =
      Set.of(
          "text",
          "application/json",
          "application/jsonl",
          "application/x-ndjson",
          "application/xml",
          "application/yaml",
          "application/x-yaml",
          "application/toml",
          "application/sql",
          "application/javascript");

  MediaTypes {
    configured = configured.stream().map(type -> type.toLowerCase(Locale.ROOT)).toList();
  }

  /// The input modes in agent cards.
  List<String> inputModes() {
    return Stream.concat(TEXT_TYPES.stream(), configured.stream()).toList();
  }

  /// Rejects a part that agents cannot read.
  void check(A2aPart part) {
    var type = part.mediaType();
    if (type == null) {
      return;
    }
    var plain = type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!configured.contains(ANY)
        && !configured.contains(plain)
        && !plain.startsWith("text/")
        && !plain.endsWith("+json")
        && !plain.endsWith("+xml")
        && !TEXTUAL_TYPES.contains(plain)) {
      throw new A2aException(
          A2aError.CONTENT_TYPE_NOT_SUPPORTED,
          "Incompatible content types: this agent does not read "
              + type
              + "; it reads "
              + String.join(", ", inputModes()));
    }
  }
}
