package dev.parley.door.agui;

import dev.parley.door.FrameCursor;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Where a reader of a thread is: after the entry at `position`, or after `part` of its frames; or, with a
/// `recap`, after `part` of the frames of a recap that was made at `position` of all that follows it.
record ThreadCursor(Position position, int part, @Nullable Position recap) {

  private static final Pattern RECAP =
      Pattern.compile("s([0-9.]{1,30})-([0-9.]{1,30})~([0-9]{1,9})");

  /// Reads the id of a frame.
  ///
  /// @throws Rejection.Invalid for anything else
  static ThreadCursor parse(String text) {
    var recap = RECAP.matcher(text);
    if (recap.matches()) {
      return new ThreadCursor(
          Position.parse(recap.group(2)),
          Integer.parseInt(recap.group(3)),
          Position.parse(recap.group(1)));
    }
    var cursor = FrameCursor.parse(text);
    return new ThreadCursor(Position.parse(cursor.place()), cursor.part(), null);
  }

  /// The id of a place in a recap of what stands between two others.
  static String recap(Position from, Position at, int part) {
    return "s" + from + "-" + at + "~" + part;
  }

  /// The ids of the frames of a recap; only with the last one all of it was read.
  static List<String> ids(Position from, Position at, int frames) {
    var ids = new ArrayList<String>(frames);
    for (var part = 1; part < frames; part++) {
      ids.add(recap(from, at, part));
    }
    ids.add(at.toString());
    return ids;
  }

  /// True if the frame with this index of the entry at `other` comes later.
  boolean precedes(Position other, int index) {
    return (recap == null && part > 0 && other.equals(position))
        ? index >= part
        : other.after(position);
  }
}
