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

  void insertState(LiveContext context, Position last, byte[] state) throws SQLException {
    try (var insert = connection.prepareStatement("INSERT INTO states VALUES (?, ?, ?)")) {
      insert.setLong(1, context.number);
      insert.setLong(2, Positions.pack(last));
      insert.setBytes(3, packed.pack(state));
      insert.executeUpdate();
    }
  }

  /// Removes what is only needed by a context that goes: its own entries, and those that it was the last
  /// to share with others that are gone.
  void release(LiveContext context) throws SQLException {
    var sources = deletedSources(context.number);
    Database.execute(connection, "DELETE FROM shares WHERE context = " + context.number);
    trim(context.number);
    for (var source : sources) {
      trim(source);
    }
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

  /// Removes a context's entries but for those that others share.
  private void trim(long number) throws SQLException {
    var keep = Database.number(connection, "SELECT max(last) FROM shares WHERE source = " + number);
    var beyond = " WHERE context = " + number + " AND last > " + keep;
    var border = keep == 0 ? null : border(beyond);
    Database.execute(connection, "DELETE FROM segments" + beyond);
    Database.execute(connection, "DELETE FROM states" + beyond);
    if (border != null) {
      insertUpTo(number, Positions.unpack(keep), border);
    }
  }

  private byte @Nullable [] border(String beyond) throws SQLException {
    try (var select =
            connection.prepareStatement(
                "SELECT data FROM segments" + beyond + " ORDER BY last LIMIT 1");
        var rows = select.executeQuery()) {
      return rows.next() ? packed.unpack(rows.getBytes(1)) : null;
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
