package dev.parley.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/// Sample text in pieces of about five characters, as a model streams it.
///
/// It repeats after some thousand characters, which is more than a segment contains, so that
/// compression gains nothing from the repetition.
final class SampleText {

  private static final Pattern PIECE = Pattern.compile("\\s*(?:\\w{1,8}|\\W)");

  private final List<String> pieces;

  SampleText() {
    try (var in = SampleText.class.getResourceAsStream("prose.txt")) {
      if (in == null) {
        throw new IllegalStateException("prose.txt is missing");
      }
      var text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      pieces = PIECE.matcher(text).results().map(MatchResult::group).toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /// The piece at `index` of the text number `text`; each text begins at another piece.
  String piece(int text, long index) {
    return pieces.get((int) ((text * 97L + index) % pieces.size()));
  }
}
