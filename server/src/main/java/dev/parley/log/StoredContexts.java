package dev.parley.log;

import dev.parley.log.LiveContext.KeyName;
import dev.parley.log.LiveContext.Status;
import dev.parley.log.LiveContext.StoredKey;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Loads contexts, blocks and segments from the store.
final class StoredContexts {

  private static final Logger LOG = System.getLogger(StoredContexts.class.getName());
  private static final String COLUMNS = "number, id, secret, sealed, state, touched, deleted";

  private static final int ROOM_MAX = 8_192;

  private StoredContexts() {}

  /// The context with this id; `ABSENT` if there is none.
  static LiveContext load(Connection connection, ContextId id, ContextMemory memory)
      throws SQLException {
    try (var select =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM contexts WHERE id = ?")) {
      select.setString(1, id.value());
      return loadOne(connection, select, id, memory);
    }
  }

  /// The context with this id, whose row or state cannot be read. It can only be deleted.
  static LiveContext loadDamaged(Connection connection, ContextId id, ContextMemory memory)
      throws SQLException {
    try (var select = connection.prepareStatement("SELECT number FROM contexts WHERE id = ?")) {
      select.setString(1, id.value());
      try (var rows = select.executeQuery()) {
        var found = rows.next();
        var context = new LiveContext(id, found ? Status.DAMAGED : Status.ABSENT, memory);
        context.number = found ? rows.getLong(1) : 0;
        return context;
      }
    }
  }

  /// The owner of the context with this id when it was created.
  static Optional<String> owner(Connection connection, ContextId id) throws SQLException {
    try (var select = connection.prepareStatement("SELECT owner FROM contexts WHERE id = ?")) {
      select.setString(1, id.value());
      try (var rows = select.executeQuery()) {
        return rows.next() ? Optional.of(rows.getString(1)) : Optional.empty();
      }
    }
  }

  /// Loads all contexts with unsealed entries, and these entries.
  static void loadUnsealed(Connection connection, Unsealed unsealed, ContextMemory memory)
      throws SQLException {
    Map<Long, LiveContext> found = new HashMap<>();
    try (var select = connection.prepareStatement("SELECT id, data FROM blocks ORDER BY id");
        var rows = select.executeQuery()) {
      while (rows.next()) {
        var block = rows.getLong(1);
        var data = rows.getBytes(2);
        var in = new ByteSource(data);
        while (in.hasMore()) {
          var number = in.number();
          var context = found.get(number);
          if (context == null) {
            context = loadNumber(connection, number, memory);
            found.put(number, context);
          }
          var stored = new StoredChunk(block, data.length, in.block());
          switch (context.status) {
            case PRESENT -> takeIn(stored, context, unsealed, memory);
            case DAMAGED -> unsealed.keep(block, data.length, context);
            case ABSENT, DELETED -> unsealed.addStale(block, number);
          }
        }
        unsealed.loaded(block, data.length);
      }
    }
    for (var context : found.values()) {
      if (context.unsealedCount == 0) {
        context.dropped(); // All of it is in segments; it is loaded again on demand.
      }
    }
    for (var context : unsealed.contexts()) {
      if (context.status == Status.PRESENT) {
        try {
          context.rollBack();
        } catch (RuntimeException unreadable) {
          damaged(context, unreadable);
          unsealed.spare(List.of(context));
        }
      }
    }
  }

  /// The chunk of one context in a block.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record StoredChunk(long block, int blockBytes, byte[] data) {}

  /// A block may outlive the sealing of some of its contexts; sealed entries are not loaded twice.
  private static void takeIn(
      StoredChunk chunk, LiveContext context, Unsealed unsealed, ContextMemory memory) {
    try {
      var slots = ChunkReader.slots(context.id, context.ids, chunk.data());
      if (slots.getLast().entry().position().after(context.sealedTo)) {
        memory.windows().add(context, slots);
        unsealed.add(
            chunk.block(), chunk.blockBytes(), context, Unsealed.Part.of(chunk.data(), slots));
      } else {
        unsealed.addStale(chunk.block(), context.number);
      }
    } catch (RuntimeException unreadable) {
      damaged(context, unreadable);
      unsealed.keep(chunk.block(), chunk.blockBytes(), context);
    }
  }

  private static void damaged(LiveContext context, RuntimeException unreadable) {
    LOG.log(Level.ERROR, "context " + context.id + " cannot be read", unreadable);
    context.status = Status.DAMAGED;
  }

  /// Up to about `limit` entries of segments after `after`, and at least one segment.
  static List<Slot> readSegments(
      Connection connection, LiveContext context, Position after, int limit) throws SQLException {
    var slots = new ArrayList<Slot>(Math.min(limit, ROOM_MAX));
    try (var packed = new Packed();
        var select =
            connection.prepareStatement(
                "SELECT data FROM segments WHERE context = ? AND last > ? ORDER BY last")) {
      for (var stretch : stretches(context)) {
        if (slots.size() < limit && stretch.last().after(after)) {
          select.setLong(1, stretch.number());
          select.setLong(2, Positions.packCursor(after));
          try (var rows = select.executeQuery()) {
            readStretch(rows, packed, new Wanted(context.id, stretch, after, limit), slots);
          }
        }
      }
    }
    return slots;
  }

  /// The ranges that a context shares, then its own segments.
  private static List<Share> stretches(LiveContext context) {
    var stretches = new ArrayList<>(context.shares);
    stretches.add(
        new Share(context.number, context.ids, new Position(Long.MAX_VALUE, Integer.MAX_VALUE)));
    return stretches;
  }

  private record Wanted(ContextId id, Share stretch, Position after, int limit) {
    boolean includes(Slot slot) {
      var position = slot.entry().position();
      return position.after(after) && !position.after(stretch.last());
    }
  }

  private static void readStretch(ResultSet rows, Packed packed, Wanted wanted, List<Slot> slots)
      throws SQLException {
    while (slots.size() < wanted.limit() && rows.next()) {
      var chunk = packed.unpack(rows.getBytes(1));
      var read = ChunkReader.slots(wanted.id(), wanted.stretch().ids(), chunk);
      for (var slot : read) {
        if (wanted.includes(slot)) {
          slots.add(slot);
        }
      }
      if (read.getLast().entry().position().after(wanted.stretch().last())) {
        return;
      }
    }
  }

  private static LiveContext loadNumber(Connection connection, long number, ContextMemory memory)
      throws SQLException {
    try (var select =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM contexts WHERE number = ?")) {
      select.setLong(1, number);
      return loadOne(connection, select, new ContextId("unknown"), memory);
    } catch (RuntimeException unreadable) {
      return damaged(connection, number, memory, unreadable);
    }
  }

  private static LiveContext damaged(
      Connection connection, long number, ContextMemory memory, RuntimeException unreadable)
      throws SQLException {
    try (var select = connection.prepareStatement("SELECT id FROM contexts WHERE number = ?")) {
      select.setLong(1, number);
      try (var rows = select.executeQuery()) {
        var id = new ContextId(rows.next() ? rows.getString(1) : "unknown");
        var context = new LiveContext(id, Status.DAMAGED, memory);
        context.number = number;
        damaged(context, unreadable);
        return context;
      }
    }
  }

  private static LiveContext loadOne(
      Connection connection, PreparedStatement select, ContextId unknown, ContextMemory memory)
      throws SQLException {
    try (var rows = select.executeQuery()) {
      if (!rows.next()) {
        return new LiveContext(unknown, Status.ABSENT, memory);
      }
      var id = new ContextId(rows.getString("id"));
      var deleted = rows.getInt("deleted") != 0;
      var context = new LiveContext(id, deleted ? Status.DELETED : Status.PRESENT, memory);
      context.number = rows.getLong("number");
      context.lastBlock = rows.getLong("touched");
      if (deleted) {
        return context;
      }
      context.ids = Secrets.read(rows.getBytes("secret"));
      context.sealedTo = Positions.unpack(rows.getLong("sealed"));
      context.updateWindow(_ -> Window.empty(context.sealedTo));
      var saved = rows.getBytes("state");
      if (saved != null) {
        var state = SavedState.readStored(saved);
        context.folded = state.restore();
        context.allHeadsUnsaved = !state.artifacts().isEmpty();
        ArtifactHeadTable.load(connection, context.number, context.folded.artifacts());
        context.state = context.folded.copy();
        context.foldedMillis = state.lastMillis();
        context.lastMillis = state.lastMillis();
      }
      loadKeys(connection, context, memory.keys().contextMax());
      loadShares(connection, context);
      return context;
    }
  }

  /// Loads the idempotency keys, unless there are very many.
  private static void loadKeys(Connection connection, LiveContext context, int max)
      throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT principal, key, hash, first, last FROM keys WHERE context = ? LIMIT ?")) {
      select.setLong(1, context.number);
      select.setInt(2, max + 1);
      try (var rows = select.executeQuery()) {
        Map<KeyName, StoredKey> stored = new HashMap<>();
        while (rows.next()) {
          stored.put(new KeyName(rows.getString(1), rows.getString(2)), key(rows));
        }
        context.keys.load(stored);
      }
    }
  }

  /// The earlier use of an idempotency key, if any.
  static Optional<StoredKey> findKey(Connection connection, LiveContext context, KeyName name)
      throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT principal, key, hash, first, last FROM keys"
                + " WHERE context = ? AND principal = ? AND key = ?")) {
      select.setLong(1, context.number);
      select.setString(2, name.principal());
      select.setString(3, name.key());
      try (var rows = select.executeQuery()) {
        return rows.next() ? Optional.of(key(rows)) : Optional.empty();
      }
    }
  }

  private static StoredKey key(ResultSet rows) throws SQLException {
    return new StoredKey(
        rows.getString(3),
        new Appended(Positions.unpack(rows.getLong(4)), Positions.unpack(rows.getLong(5)), true));
  }

  private static void loadShares(Connection connection, LiveContext context) throws SQLException {
    try (var select =
        connection.prepareStatement(
            "SELECT source, secret, last FROM shares WHERE context = ? ORDER BY last")) {
      select.setLong(1, context.number);
      try (var rows = select.executeQuery()) {
        var shares = new ArrayList<Share>();
        while (rows.next()) {
          shares.add(
              new Share(
                  rows.getLong(1),
                  Secrets.read(rows.getBytes(2)),
                  Positions.unpack(rows.getLong(3))));
        }
        context.shares = List.copyOf(shares);
      }
    }
  }
}
