package dev.parley.log;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The writer's statements about what contexts share. Used as [BlockTable] is.
///
/// A deleted context keeps the entries that forks share with it, up to the last one that any of them
/// does, and loses them with the last such fork.
final class ShareTable {

  /// Stored states take at most one part in so many of what the entries take.
  private static final long STATE_SHARE = 8;

  private static final int ROW_BYTES = 256;

  private final Connection connection;
  private final Packed packed;

  ShareTable(Connection connection, Packed packed) {
    this.connection = connection;
    this.packed = packed;
  }

  void insert(LiveContext context, List<Share> shares) throws SQLException {
    try (var insert =
        connection.prepareStatement(
            "INSERT INTO shares (context, last, source, secret) VALUES (?, ?, ?, ?)")) {
      for (var share : shares) {
        insert.setLong(1, context.number);
        insert.setLong(2, Positions.pack(share.last()));
        insert.setLong(3, share.number());
        insert.setBytes(4, Secrets.bytes(share.ids()));
        insert.executeUpdate();
      }
    }
  }

  /// Stores a state from which the state at a later position can be found. Leaves it out if it is large
  /// beside the entries since the last one, of which there are not very many: then reading those again
  /// costs less than storing it.
  void insertState(LiveContext context, Position last, byte[] state, long eventsMax)
      throws SQLException {
    var data = packed.pack(state);
    var since = sinceState(context.number);
    if (STATE_SHARE * data.length > since.bytes() && last.seq() - since.seq() < eventsMax) {
      return;
    }
    try (var insert = connection.prepareStatement("INSERT INTO states VALUES (?, ?, ?)")) {
      insert.setLong(1, context.number);
      insert.setLong(2, Positions.pack(last));
      insert.setBytes(3, data);
      insert.executeUpdate();
    }
  }

  /// Where the last stored state of a context is, and how many bytes of entries follow it.
  private record SinceState(long seq, long bytes) {}

  private SinceState sinceState(long number) throws SQLException {
    try (var select =
        connection.prepareStatement(
            """
            SELECT coalesce(max(s.last), 0), (SELECT sum(length(data)) FROM segments g
              WHERE g.context = ?1 AND g.last > coalesce(max(s.last), 0))
            FROM states s WHERE s.context = ?1
            """)) {
      select.setLong(1, number);
      try (var rows = select.executeQuery()) {
        return rows.next()
            ? new SinceState(Positions.unpack(rows.getLong(1)).seq(), rows.getLong(2))
            : new SinceState(0, 0);
      }
    }
  }

  /// Removes what a context that goes shares with others. Returns those of them that are deleted, and
  /// may have kept entries for this one alone.
  List<Long> release(LiveContext context) throws SQLException {
    var sources = deletedSources(context.number);
    Database.execute(connection, "DELETE FROM shares WHERE context = " + context.number);
    return sources;
  }

  private List<Long> deletedSources(long number) throws SQLException {
    var sources = new ArrayList<Long>();
    try (var select =
        connection.prepareStatement(
            "SELECT DISTINCT source FROM shares JOIN contexts ON number = source"
                + " WHERE context = ? AND deleted = 1")) {
      select.setLong(1, number);
      try (var rows = select.executeQuery()) {
        while (rows.next()) {
          sources.add(rows.getLong(1));
        }
      }
    }
    return sources;
  }

  /// Removes up to about `bytes` of a deleted context's entries that no other context shares, the last
  /// ones first. Returns how many bytes, less than `bytes` if none are left.
  long trim(long number, long bytes) throws SQLException {
    var keep = Database.number(connection, "SELECT max(last) FROM shares WHERE source = " + number);
    var beyond = " WHERE context = " + number + " AND last > " + keep + " ORDER BY last DESC";
    var erased = 0L;
    for (var table : List.of("states", "segments")) {
      while (erased < bytes) {
        var row = last(table, beyond);
        if (row == null) {
          break;
        }
        if (row.only() && keep > 0 && table.equals("segments")) {
          insertUpTo(number, Positions.unpack(keep), data(row.rowid()));
        }
        Database.execute(connection, "DELETE FROM " + table + " WHERE rowid = " + row.rowid());
        // A row has a price even if it is small.
        erased += row.bytes() + ROW_BYTES;
      }
    }
    return erased;
  }

  /// A row, how long its data is, and whether it is the only one that was looked for.
  private record FoundRow(long rowid, long bytes, boolean only) {}

  private @Nullable FoundRow last(String table, String beyond) throws SQLException {
    try (var select =
            connection.prepareStatement(
                "SELECT rowid, length(data) FROM " + table + beyond + " LIMIT 2");
        var rows = select.executeQuery()) {
      if (!rows.next()) {
        return null;
      }
      var rowid = rows.getLong(1);
      var bytes = rows.getLong(2);
      return new FoundRow(rowid, bytes, !rows.next());
    }
  }

  private byte[] data(long rowid) throws SQLException {
    try (var select = connection.prepareStatement("SELECT data FROM segments WHERE rowid = ?")) {
      select.setLong(1, rowid);
      try (var rows = select.executeQuery()) {
        return packed.unpack(rows.next() ? rows.getBytes(1) : new byte[0]);
      }
    }
  }

  private void insertUpTo(long number, Position last, byte[] chunk) throws SQLException {
    // Ids are no part of a chunk: any will do.
    var slots =
        ChunkReader.slots(new ContextId("deleted"), new EventIds(0, 0), chunk).stream()
            .takeWhile(slot -> !slot.entry().position().after(last))
            .toList();
    if (slots.isEmpty()) {
      return;
    }
    try (var insert =
        connection.prepareStatement(
            "INSERT INTO segments (context, last, data) VALUES (?, ?, ?)")) {
      insert.setLong(1, number);
      insert.setLong(2, Positions.pack(slots.getLast().entry().position()));
      insert.setBytes(3, packed.pack(ChunkWriter.chunk(ChunkReader.before(chunk), slots)));
      insert.executeUpdate();
    }
  }
}
