package dev.parley.door;

import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;

/// Where a reader is: after all of the entry at `place`, or, if `part` is not zero, after that many of the
/// frames that the entry makes.
public record FrameCursor(String place, int part) {

  private static final char MARK = '~';

  /// Reads the id of a frame.
  ///
  /// @throws Rejection.Invalid for anything else
  public static FrameCursor parse(String text) {
    var mark = text.indexOf(MARK);
    if (mark < 0) {
      return new FrameCursor(text, 0);
    }
    try {
      var part = Integer.parseInt(text, mark + 1, text.length(), 10);
      if (part > 0) {
        return new FrameCursor(text.substring(0, mark), part);
      }
    } catch (NumberFormatException malformed) {
      // Falls through to the one answer for everything that is not a cursor.
    }
    throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream: " + text);
  }

  /// The ids of the frames of an entry at `place`: only the last one's says that the entry was read.
  public static List<String> ids(String place, int frames) {
    var ids = new ArrayList<String>(frames);
    for (var part = 1; part < frames; part++) {
      ids.add(place + MARK + part);
    }
    ids.add(place);
    return ids;
  }
}
