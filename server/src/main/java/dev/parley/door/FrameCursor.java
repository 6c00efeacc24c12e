package dev.parley.door;

import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;

/// Where a frame stands in a stream in which an entry may be several frames, and so where its reader does: `17` is after
/// all of the entry at `place` 17, `17~1` after the first of several frames that the entry makes.
///
/// @param place the entry's, in whatever the stream counts in
/// @param part how many of the entry's frames were told; 0 for all of them
public record FrameCursor(String place, int part) {

  private static final char MARK = '~';
  private static final int DIGITS_MAX = 9;

  /// After all of the entry at a position.
  public static FrameCursor of(Position position) {
    return new FrameCursor(position.toString(), 0);
  }

  /// Reads what [#toString] writes. Whether the place is one, its stream has to say.
  ///
  /// @throws Rejection.Invalid for anything else
  public static FrameCursor parse(String text) {
    var mark = text.indexOf(MARK);
    if (mark < 0) {
      return new FrameCursor(text, 0);
    }
    var digits = text.substring(mark + 1);
    if (!digits.isEmpty()
        && digits.length() <= DIGITS_MAX
        && digits.chars().allMatch(c -> c >= '0' && c <= '9')
        && Integer.parseInt(digits) > 0) {
      return new FrameCursor(text.substring(0, mark), Integer.parseInt(digits));
    }
    throw new Rejection.Invalid("invalid-cursor", "this is not a cursor of this stream: " + text);
  }

  /// Those of the frames of an entry at `place`: only the last one's says that the entry was read.
  public static List<FrameCursor> each(String place, int frames) {
    var each = new ArrayList<FrameCursor>(frames);
    for (var part = 1; part < frames; part++) {
      each.add(new FrameCursor(place, part));
    }
    each.add(new FrameCursor(place, 0));
    return each;
  }

  /// The place, where places are positions in a context.
  ///
  /// @throws Rejection.Invalid if this one is none
  public Position position() {
    return Position.parse(place);
  }

  /// True if this stands after `other` in a stream of one context; an entry's last frame comes after its others.
  public boolean after(FrameCursor other) {
    var byPlace = position().compareTo(other.position());
    return byPlace == 0 ? rank() > other.rank() : byPlace > 0;
  }

  private int rank() {
    return part == 0 ? Integer.MAX_VALUE : part;
  }

  /// Right before the entry at a position.
  public static Position before(Position position) {
    return position.k() > 0
        ? new Position(position.seq(), position.k() - 1)
        : new Position(Math.max(0, position.seq() - 1), Integer.MAX_VALUE);
  }

  @Override
  public String toString() {
    return part == 0 ? place : place + MARK + part;
  }
}
