package dev.parley.log;

import dev.parley.encryption.ContentCipher;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The SQL statements for shared ranges and stored states. For the same connection and thread as
/// [TableWriter].
///
/// A deleted context keeps the entries that forks share, up to the last shared one. They are
/// deleted with the last such fork.
final class SharedRangeTable {

  /// The stored states of a context take at most this fraction (1/n) of the size of its entries.
  private static final long STATE_SHARE = 8;

  private static final int ROW_BYTES = 256;

  private final Connection connection;
  private final ChunkPacker packer;
  private final LogEncryption encryption;

  SharedRangeTable(Connection connection, ChunkPacker chunkPacker, LogEncryption encryption) {
    this.encryption = encryption;
    this.connection = connection;
    this.packer = chunkPacker;
  }

  void insert(CachedContext context, List<SharedRange> shares) throws SQLException {
    for (var sharedRange : shares) {
      Jdbc.update(
          connection,
          "INSERT INTO shares (context, last, source, secret) VALUES (?, ?, ?, ?)",
          context.number,
          PositionCodec.pack(sharedRange.last()),
          sharedRange.number(),
          sharedRange.ids().bytes());
    }
  }

  /// Stores a state from which later states can be computed. Skips a state that is large compared
  /// with the entries since the previous one, unless these are very many: reading the entries again
  /// then costs less than storing the state.
  void insertState(CachedContext context, Position last, byte[] state, long eventsMax)
      throws SQLException {
    var place = StoredValue.keptState(context.number, PositionCodec.pack(last));
    var data = context.cipher.encrypt(packer.pack(state), place);
    var since = sinceState(context.number);
    if (STATE_SHARE * data.length > since.bytes() && last.seq() - since.seq() < eventsMax) {
      return;
    }
    Jdbc.update(
        connection,
        "INSERT INTO states VALUES (?, ?, ?)",
        context.number,
        PositionCodec.pack(last),
        data);
  }

  /// The seq of the last stored state of a context, and the size of the entries after it.
  private record SinceState(long seq, long bytes) {}

  private SinceState sinceState(long number) throws SQLException {
    return Jdbc.list(
            connection,
            """
            SELECT coalesce(max(s.last), 0), (SELECT sum(length(data)) FROM segments g
              WHERE g.context = ? AND g.last > coalesce(max(s.last), 0))
            FROM states s WHERE s.context = ?
            """,
            row -> new SinceState(PositionCodec.unpack(row.getLong(1)).seq(), row.getLong(2)),
            number,
            number)
        .getFirst();
  }

  /// Deletes the shared ranges of a context that is being deleted. Returns the deleted contexts
  /// that these ranges belong to, which may keep entries for this context only.
  List<Long> release(CachedContext context) throws SQLException {
    var sources =
        Jdbc.list(
            connection,
            "SELECT DISTINCT source FROM shares JOIN contexts ON number = source"
                + " WHERE context = ? AND deleted = 1",
            row -> row.getLong(1),
            context.number);
    Jdbc.execute(connection, "DELETE FROM shares WHERE context = " + context.number);
    return sources;
  }

  /// Deletes up to about `bytes` of a deleted context's entries that no other context shares, the
  /// last ones first. Returns how many bytes were deleted, less than `bytes` if none are left.
  long trim(long number, long bytes) throws SQLException {
    var keep = Jdbc.number(connection, "SELECT max(last) FROM shares WHERE source = " + number);
    var beyond = " WHERE context = " + number + " AND last > " + keep + " ORDER BY last DESC";
    var erased = 0L;
    for (var table : List.of("states", "segments")) {
      while (erased < bytes) {
        var row = last(table, beyond);
        if (row == null) {
          break;
        }
        if (row.only() && keep > 0 && table.equals("segments")) {
          var cipher = encryption.cipher(connection, number);
          insertUpTo(cipher, number, PositionCodec.unpack(keep), data(cipher, number, row.last()));
        }
        Jdbc.update(
            connection,
            "DELETE FROM " + table + " WHERE context = ? AND last = ?",
            number,
            row.last());
        // Each row has a cost, even if it is small.
        erased += row.bytes() + ROW_BYTES;
      }
    }
    return erased;
  }

  /// The last position of a row, the length of its data, and whether it is the only match.
  private record FoundRow(long last, long bytes, boolean only) {}

  private @Nullable FoundRow last(String table, String beyond) throws SQLException {
    try (var select =
            connection.prepareStatement(
                "SELECT last, length(data) FROM " + table + beyond + " LIMIT 2");
        var rows = select.executeQuery()) {
      if (!rows.next()) {
        return null;
      }
      var last = rows.getLong(1);
      var bytes = rows.getLong(2);
      return new FoundRow(last, bytes, !rows.next());
    }
  }

  private byte[] data(ContentCipher cipher, long number, long last) throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT data FROM segments WHERE context = ? AND last = ?",
            row ->
                packer.unpack(cipher.decrypt(row.getBytes(1), StoredValue.segment(number, last))),
            number,
            last)
        .getFirst();
  }

  private void insertUpTo(ContentCipher cipher, long number, Position last, byte[] chunk)
      throws SQLException {
    // A chunk does not contain ids, so any ids will do.
    var slots =
        ChunkReader.entries(new ContextId("deleted"), new EventIdGenerator(0, 0), chunk).stream()
            .takeWhile(storedEntry -> !storedEntry.entry().position().after(last))
            .toList();
    if (slots.isEmpty()) {
      return;
    }
    var end = PositionCodec.pack(slots.getLast().entry().position());
    var packed = packer.pack(ChunkWriter.chunk(ChunkReader.before(chunk), StoredRun.of(slots)));
    Jdbc.update(
        connection,
        "INSERT INTO segments (context, last, data) VALUES (?, ?, ?)",
        number,
        end,
        cipher.encrypt(packed, StoredValue.segment(number, end)));
  }
}
