package dev.parley.tool;

import dev.parley.tool.WorkingDirectory.FileRejectedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// Replaces one text by another; an error explains the problem, so that a model can correct its
/// call.
record TextReplacement(String oldText, String newText) {

  private static final int PLACES_SHOWN = 5;
  private static final int SHOWN_MAX = 400;

  String applyTo(String text, boolean everywhere) throws FileRejectedException {
    if (oldText.isEmpty()) {
      throw new FileRejectedException("oldText is empty; to write a whole file use write_file");
    }
    if (oldText.equals(newText)) {
      throw new FileRejectedException("oldText and newText are the same");
    }
    var places = places(text, oldText);
    if (places.isEmpty()) {
      // Models use their own line ends; those of the file are kept.
      var inCrlf = new TextReplacement(crlf(oldText), crlf(newText));
      if (text.contains("\r\n") && !inCrlf.equals(this) && text.contains(inCrlf.oldText)) {
        return inCrlf.applyTo(text, everywhere);
      }
      throw new FileRejectedException("oldText was not found. " + hint(text));
    }
    if (places.size() > 1 && !everywhere) {
      throw new FileRejectedException(
          "oldText was found %d times, at lines %s. Add lines before or after it so that it occurs once, or set replaceAll."
              .formatted(places.size(), lines(text, places)));
    }
    return text.replace(oldText, newText);
  }

  /// The positions of `part` without overlaps, as replaced by [String#replace].
  private static List<Integer> places(String text, String part) {
    var places = new ArrayList<Integer>();
    for (var at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
      places.add(at);
    }
    return places;
  }

  private static String lines(String text, List<Integer> places) {
    var shown =
        places.stream()
            .limit(PLACES_SHOWN)
            .map(at -> Long.toString(lineOf(text, at)))
            .collect(Collectors.joining(", "));
    return places.size() > PLACES_SHOWN ? shown + ", …" : shown;
  }

  private static long lineOf(String text, int at) {
    return 1 + text.substring(0, at).chars().filter(c -> c == '\n').count();
  }

  private String hint(String text) {
    var lines = text.lines().toList();
    var wanted = oldText.strip().lines().map(String::strip).toList();
    if (wanted.isEmpty()) {
      return "It contains only whitespace; add the text around it.";
    }
    var spaced = find(lines, wanted, false);
    if (spaced >= 0) {
      return "Line %d is the same but for spaces. The file contains exactly:\n%s"
          .formatted(spaced + 1, shown(lines.subList(spaced, spaced + wanted.size())));
    }
    var cased = find(lines, wanted, true);
    if (cased >= 0) {
      return "Line %d is the same but for spaces and case. The file contains exactly:\n%s"
          .formatted(cased + 1, shown(lines.subList(cased, cased + wanted.size())));
    }
    var first = find(lines, wanted.subList(0, 1), false);
    if (first >= 0 && !wanted.getFirst().isEmpty()) {
      var end = Math.min(lines.size(), first + wanted.size());
      return "Its first line is line %d, but the next lines differ. The file contains:\n%s"
          .formatted(first + 1, shown(lines.subList(first, end)));
    }
    return !newText.isBlank() && text.contains(newText)
        ? "But newText is there: maybe this edit was made before. Read the file."
        : "Read the file again and copy the text from there.";
  }

  /// The first line at which the wanted lines occur, ignoring whitespace; or -1.
  private static int find(List<String> lines, List<String> wanted, boolean anyCase) {
    for (var start = 0; start + wanted.size() <= lines.size(); start++) {
      var same = true;
      for (var i = 0; same && i < wanted.size(); i++) {
        var line = squeezed(lines.get(start + i), anyCase);
        same = line.equals(squeezed(wanted.get(i), anyCase));
      }
      if (same) {
        return start;
      }
    }
    return -1;
  }

  private static String squeezed(String line, boolean anyCase) {
    var squeezed = line.strip().replaceAll("\\s+", " ");
    return anyCase ? squeezed.toLowerCase(Locale.ROOT) : squeezed;
  }

  private static String shown(List<String> lines) {
    var text = String.join("\n", lines);
    return text.length() > SHOWN_MAX ? text.substring(0, SHOWN_MAX) + "…" : text;
  }

  private static String crlf(String text) {
    return text.replace("\r\n", "\n").replace("\n", "\r\n");
  }
}
