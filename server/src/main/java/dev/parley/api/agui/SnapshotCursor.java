package dev.parley.api.agui;

import dev.parley.protocol.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// A cursor within a snapshot.
///
/// @param from the position where the fold of the snapshot begins
/// @param at the position of the snapshot
/// @param part how many of its frames were read
record SnapshotCursor(Position from, Position at, int part) {

  private static final Pattern FORM =
      Pattern.compile("s([0-9.]{1,30})-([0-9.]{1,30})~([0-9]{1,9})");

  /// Parses the frame id of a snapshot; empty if it is another id.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if its positions are not valid
  static Optional<SnapshotCursor> parse(String text) {
    var recap = FORM.matcher(text);
    return recap.matches()
        ? Optional.of(
            new SnapshotCursor(
                Position.parse(recap.group(1)),
                Position.parse(recap.group(2)),
                Integer.parseInt(recap.group(3))))
        : Optional.empty();
  }

  /// The ids of all frames of the snapshot. The last one is the position itself: the snapshot is
  /// complete.
  List<String> ids(int frames) {
    var ids = new ArrayList<String>(frames);
    for (var next = 1; next < frames; next++) {
      ids.add(new SnapshotCursor(from, at, next).toString());
    }
    ids.add(at.toString());
    return ids;
  }

  @Override
  public String toString() {
    return "s" + from + "-" + at + "~" + part;
  }
}
