package dev.parley.protocol;

/// A position in the order of a context's events: `seq` for a public event, `seq.k` for an internal
/// one after it.
///
/// A reader remembers a position and continues after it.
public record Position(long seq, int k) implements Comparable<Position> {

  /// The position before the first event.
  public static final Position START = new Position(0, 0);

  private static final int TEXT_MAX = 30;

  public Position {
    if (seq < 0 || k < 0) {
      throw new IllegalArgumentException("a position must not be negative: " + seq + "." + k);
    }
  }

  /// The position of public event `seq`.
  public static Position of(long seq) {
    return new Position(seq, 0);
  }

  /// Parses `17` or `17.2`.
  ///
  /// @throws Rejection.Invalid for any other text
  public static Position parse(String text) {
    try {
      if (!text.isEmpty() && text.length() <= TEXT_MAX && digits(text)) {
        var dot = text.indexOf('.');
        return dot < 0
            ? of(Long.parseLong(text))
            : new Position(
                Long.parseLong(text, 0, dot, 10),
                Integer.parseInt(text, dot + 1, text.length(), 10));
      }
    } catch (NumberFormatException tooLarge) {
      // Falls through to the common rejection.
    }
    throw new Rejection.Invalid(
        "invalid-cursor", "a cursor is a number such as 17, or 17.2 after an internal event");
  }

  /// The position of the next public event.
  public Position nextPublic() {
    return new Position(seq + 1, 0);
  }

  /// The position of the next internal event.
  public Position nextInternal() {
    return new Position(seq, k + 1);
  }

  /// True if this position is after `other`.
  public boolean after(Position other) {
    return compareTo(other) > 0;
  }

  @Override
  public int compareTo(Position other) {
    var bySeq = Long.compare(seq, other.seq);
    return bySeq != 0 ? bySeq : Integer.compare(k, other.k);
  }

  @Override
  public String toString() {
    return k == 0 ? Long.toString(seq) : seq + "." + k;
  }

  private static boolean digits(String text) {
    var dots = 0;
    for (var i = 0; i < text.length(); i++) {
      var c = text.charAt(i);
      if (c == '.' && i > 0 && i < text.length() - 1) {
        dots++;
      } else if (c < '0' || c > '9') {
        return false;
      }
    }
    return dots <= 1;
  }
}
