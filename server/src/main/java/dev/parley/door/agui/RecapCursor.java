package dev.parley.door.agui;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// Where a reader of a recap is: after `part` of the frames of the one that was made at `at` of all that follows `from`.
record RecapCursor(Position from, Position at, int part) {

  private static final Pattern FORM =
      Pattern.compile("s([0-9.]{1,30})-([0-9.]{1,30})~([0-9]{1,9})");

  /// Reads the id of a frame, if it is one of a recap.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if its places are none
  static Optional<RecapCursor> parse(String text) {
    var recap = FORM.matcher(text);
    return recap.matches()
        ? Optional.of(
            new RecapCursor(
                Position.parse(recap.group(1)),
                Position.parse(recap.group(2)),
                Integer.parseInt(recap.group(3))))
        : Optional.empty();
  }

  /// The ids of the frames of the whole recap; only with the last one all of it was read.
  List<String> ids(int frames) {
    var ids = new ArrayList<String>(frames);
    for (var next = 1; next < frames; next++) {
      ids.add(new RecapCursor(from, at, next).toString());
    }
    ids.add(at.toString());
    return ids;
  }

  @Override
  public String toString() {
    return "s" + from + "-" + at + "~" + part;
  }
}
