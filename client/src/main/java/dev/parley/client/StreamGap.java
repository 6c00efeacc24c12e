package dev.parley.client;

import dev.parley.protocol.Position;
import org.jspecify.annotations.Nullable;

/// A stream cannot continue from the reader's position, for instance because the context was
/// deleted.
///
/// To continue, the reader takes a snapshot and streams from there.
public final class StreamGap extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String reason;
  private final @Nullable String requested;
  private final @Nullable String position;

  StreamGap(String reason, @Nullable String requested, @Nullable String position) {
    super(
        "The stream cannot continue"
            + (requested == null ? "" : " after " + requested)
            + ": "
            + reason
            + (position == null ? "" : " (the log is at " + position + ")"));
    this.reason = reason;
    this.requested = requested;
    this.position = position;
  }

  /// The reason: `ahead-of-head`, `deleted`, or `missing` if the server has lost events.
  public String reason() {
    return reason;
  }

  /// The position that the reader wanted to continue from.
  public @Nullable Position requested() {
    return requested == null ? null : Position.parse(requested);
  }

  /// The last position of the log, if it still exists.
  public @Nullable Position position() {
    return position == null ? null : Position.parse(position);
  }
}
