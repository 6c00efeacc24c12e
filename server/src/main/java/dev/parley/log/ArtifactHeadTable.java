package dev.parley.log;

import dev.parley.encryption.ContentCipher;
import dev.parley.log.CachedContext.HeadChanges;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.Json;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/// The table of artifact heads. They are stored apart from the context's state: a context never
/// drops a head, so each seal would otherwise write all of them again.
///
/// The row with the empty id holds all heads as of one moment, packed. Each other row holds the
/// head of one artifact that has changed since then.
final class ArtifactHeadTable {

  /// The key of the row with all heads.
  static final String ALL = "";

  private final Connection connection;
  private final ChunkPacker packer;

  ArtifactHeadTable(Connection connection, ChunkPacker chunkPacker) {
    this.connection = connection;
    this.packer = chunkPacker;
  }

  void save(CachedContext context, HeadChanges headChanges) throws SQLException {
    if (headChanges.all()) {
      delete(context.number);
      insertAll(context, headChanges.heads());
      return;
    }
    for (var changed : headChanges.heads().entrySet()) {
      var id = changed.getKey();
      var row = row(context.cipher, id);
      Jdbc.update(
          connection,
          "INSERT INTO artifact_heads VALUES (?, ?, ?)"
              + " ON CONFLICT (context, artifact) DO UPDATE SET data = excluded.data",
          context.number,
          row,
          context.cipher.encrypt(
              bytes(context.cipher, id, changed.getValue()),
              StoredValue.heads(context.number, row)));
    }
  }

  /// The key of an artifact's row. Agents choose ids, so an id may reveal something.
  static String row(ContentCipher cipher, ArtifactId id) {
    return cipher.fingerprint("artifact", id.value());
  }

  /// The head of an artifact, with its id if that is not in the row.
  static byte[] bytes(ContentCipher cipher, ArtifactId id, ArtifactHead head) {
    return Json.bytes(cipher.encrypts() ? new SavedState.SavedArtifact(id, head) : head);
  }

  /// Stores the heads of a context that has none stored yet.
  void insertAll(CachedContext context, Map<ArtifactId, ArtifactHead> heads) throws SQLException {
    if (!heads.isEmpty()) {
      Jdbc.update(
          connection,
          "INSERT INTO artifact_heads VALUES (?, ?, ?)",
          context.number,
          ALL,
          context.cipher.encrypt(
              packer.pack(Json.bytes(SavedHeads.of(heads))),
              StoredValue.heads(context.number, ALL)));
    }
  }

  void delete(long context) throws SQLException {
    Jdbc.execute(connection, "DELETE FROM artifact_heads WHERE context = " + context);
  }

  /// Loads a context's heads into `heads`.
  static void load(
      Connection connection, CachedContext context, Map<ArtifactId, ArtifactHead> heads)
      throws SQLException {
    var cipher = context.cipher;
    // The row with all heads has the empty id, so it sorts first.
    try (var select =
        connection.prepareStatement(
            "SELECT artifact, data FROM artifact_heads WHERE context = ? ORDER BY artifact")) {
      select.setLong(1, context.number);
      try (var rows = select.executeQuery();
          var chunkPacker = new ChunkPacker()) {
        while (rows.next()) {
          var artifact = rows.getString(1);
          var data = cipher.decrypt(rows.getBytes(2), StoredValue.heads(context.number, artifact));
          if (artifact.equals(ALL)) {
            Json.mapper().readValue(chunkPacker.unpack(data), SavedHeads.class).putInto(heads);
          } else if (cipher.encrypts()) {
            var saved = Json.mapper().readValue(data, SavedState.SavedArtifact.class);
            heads.put(saved.id(), saved.head());
          } else {
            heads.put(new ArtifactId(artifact), Json.mapper().readValue(data, ArtifactHead.class));
          }
        }
      }
    }
  }

  private record SavedHeads(List<SavedState.SavedArtifact> artifacts) {

    static SavedHeads of(Map<ArtifactId, ArtifactHead> heads) {
      return new SavedHeads(
          heads.entrySet().stream()
              .map(e -> new SavedState.SavedArtifact(e.getKey(), e.getValue()))
              .toList());
    }

    void putInto(Map<ArtifactId, ArtifactHead> heads) {
      artifacts.forEach(savedArtifact -> heads.put(savedArtifact.id(), savedArtifact.head()));
    }
  }
}
