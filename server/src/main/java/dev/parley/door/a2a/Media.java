package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.WirePart;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/// What agents read and write: text in all its kinds, and what the configuration adds.
///
/// @param more further types that agents read; `*/*` is every type
record Media(List<String> more) {

  private static final String ANY = "*/*";

  /// What cards say that agents read.
  private static final List<String> TEXTS =
      List.of("text/plain", "text/markdown", "text/csv", "text/html", "application/json");

  /// What cards say that agents write.
  static final List<String> OUT = List.of("text/plain", "text/markdown", "application/json");

  private static final Set<String> TEXTUAL =
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

  Media {
    more = more.stream().map(type -> type.toLowerCase(Locale.ROOT)).toList();
  }

  /// What cards say that agents read.
  List<String> in() {
    return Stream.concat(TEXTS.stream(), more.stream()).toList();
  }

  /// Refuses a part of a type that no agent here can read.
  ///
  /// @throws A2aException if so
  void check(WirePart part) {
    var type = part.mediaType();
    if (type == null) {
      return;
    }
    var plain = type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!more.contains(ANY)
        && !more.contains(plain)
        && !plain.startsWith("text/")
        && !plain.endsWith("+json")
        && !plain.endsWith("+xml")
        && !TEXTUAL.contains(plain)) {
      throw new A2aException(
          A2aError.CONTENT_TYPE_NOT_SUPPORTED,
          "Incompatible content types: this agent does not read "
              + type
              + "; it reads "
              + String.join(", ", in()));
    }
  }
}
