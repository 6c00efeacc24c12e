package dev.parley.stream;

import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;

/// A position in a stream in which an entry may have several frames: `17` is after all frames of
/// the entry at 17, `17~1` after the first of its frames.
///
/// @param place the entry's cursor, in the units of the stream
/// @param part how many of the entry's frames were sent; 0 for all of them
public record FrameCursor(String place, int part) {

  private static final char MARK = '~';
  private static final int DIGITS_MAX = 9;

  /// After all frames of the entry at a position.
  public static FrameCursor of(Position position) {
    return new FrameCursor(position.toString(), 0);
  }

  /// Parses the output of [#toString]. It does not check the entry's cursor.
  ///
  /// @throws Rejection.Invalid if the text is malformed
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

  /// The cursors of an entry's frames. Only the last one means that the whole entry was read.
  public static List<FrameCursor> each(String place, int frames) {
    var each = new ArrayList<FrameCursor>(frames);
    for (var part = 1; part < frames; part++) {
      each.add(new FrameCursor(place, part));
    }
    each.add(new FrameCursor(place, 0));
    return each;
  }

  /// The entry's position, in a stream of one context.
  ///
  /// @throws Rejection.Invalid if the cursor is not a position
  public Position position() {
    return Position.parse(place);
  }

  /// True if this is after `other` in a stream of one context.
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
