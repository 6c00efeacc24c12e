package dev.parley.log;

import dev.parley.protocol.Position;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/// Reads the states that were stored with the segments, from which earlier states are computed.
final class SavedStateReader {

  private SavedStateReader() {}

  /// The last state of `context` that was stored at or before `atSeq`.
  static Optional<SavedState> before(Connection connection, CachedContext context, long atSeq)
      throws SQLException {
    var last = new Position(atSeq, PositionCodec.K_MAX);
    var found = before(connection, context.number, last);
    for (var sharedRange : context.sharedRanges.reversed()) {
      if (found.isEmpty()) {
        found =
            before(
                connection,
                sharedRange.number(),
                last.after(sharedRange.last()) ? sharedRange.last() : last);
      }
    }
    return found;
  }

  private static Optional<SavedState> before(Connection connection, long number, Position last)
      throws SQLException {
    try (var chunkPacker = new ChunkPacker();
        var select =
            connection.prepareStatement(
                "SELECT data FROM states WHERE context = ? AND last <= ?"
                    + " ORDER BY last DESC LIMIT 1")) {
      select.setLong(1, number);
      select.setLong(2, PositionCodec.pack(last));
      try (var rows = select.executeQuery()) {
        return rows.next()
            ? Optional.of(SavedState.read(chunkPacker.unpack(rows.getBytes(1))))
            : Optional.empty();
      }
    }
  }
}
