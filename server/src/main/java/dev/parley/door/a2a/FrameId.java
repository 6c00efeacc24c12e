package dev.parley.door.a2a;

import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;

/// Where a frame stands: `17` ends what entry 17 makes, `17~1` is the first frame of several that it makes.
public record FrameId(Position position, int part) implements Comparable<FrameId> {

  private static final char PART = '~';
  private static final int DIGITS_MAX = 6;

  /// The last frame of an entry.
  public static FrameId of(Position position) {
    return new FrameId(position, 0);
  }

  /// Reads what [#toString] writes.
  ///
  /// @throws Rejection.Invalid for anything else
  public static FrameId parse(String text) {
    var at = text.indexOf(PART);
    if (at < 0) {
      return of(Position.parse(text));
    }
    var part = text.substring(at + 1);
    if (part.isEmpty()
        || part.length() > DIGITS_MAX
        || !part.chars().allMatch(c -> c >= '0' && c <= '9')
        || Integer.parseInt(part) == 0) {
      throw new Rejection.Invalid("invalid-cursor", "Last-Event-ID is not an id of this stream");
    }
    return new FrameId(Position.parse(text.substring(0, at)), Integer.parseInt(part));
  }

  /// The first of the two comes first; an entry's last frame comes after its others.
  @Override
  public int compareTo(FrameId other) {
    var byPosition = position.compareTo(other.position);
    return byPosition != 0 ? byPosition : Integer.compare(rank(), other.rank());
  }

  private int rank() {
    return part == 0 ? Integer.MAX_VALUE : part;
  }

  @Override
  public String toString() {
    return part == 0 ? position.toString() : position + "" + PART + part;
  }
}
