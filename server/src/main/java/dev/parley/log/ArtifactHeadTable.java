package dev.parley.log;

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

  private static final String ALL = "";

  private final Connection connection;
  private final ChunkPacker packer;

  ArtifactHeadTable(Connection connection, ChunkPacker chunkPacker) {
    this.connection = connection;
    this.packer = chunkPacker;
  }

  void save(long context, HeadChanges headChanges) throws SQLException {
    if (headChanges.all()) {
      delete(context);
      insertAll(context, headChanges.heads());
      return;
    }
    for (var changed : headChanges.heads().entrySet()) {
      Jdbc.update(
          connection,
          "INSERT INTO artifact_heads VALUES (?, ?, ?)"
              + " ON CONFLICT (context, artifact) DO UPDATE SET data = excluded.data",
          context,
          changed.getKey().value(),
          Json.bytes(changed.getValue()));
    }
  }

  /// Stores the heads of a context that has none stored yet.
  void insertAll(long context, Map<ArtifactId, ArtifactHead> heads) throws SQLException {
    if (!heads.isEmpty()) {
      Jdbc.update(
          connection,
          "INSERT INTO artifact_heads VALUES (?, ?, ?)",
          context,
          ALL,
          packer.pack(Json.bytes(SavedHeads.of(heads))));
    }
  }

  void delete(long context) throws SQLException {
    Jdbc.execute(connection, "DELETE FROM artifact_heads WHERE context = " + context);
  }

  /// Loads a context's heads into `heads`.
  static void load(Connection connection, long context, Map<ArtifactId, ArtifactHead> heads)
      throws SQLException {
    // The row with all heads has the empty id, so it sorts first.
    try (var select =
        connection.prepareStatement(
            "SELECT artifact, data FROM artifact_heads WHERE context = ? ORDER BY artifact")) {
      select.setLong(1, context);
      try (var rows = select.executeQuery();
          var chunkPacker = new ChunkPacker()) {
        while (rows.next()) {
          var artifact = rows.getString(1);
          var data = rows.getBytes(2);
          if (artifact.equals(ALL)) {
            Json.mapper().readValue(chunkPacker.unpack(data), SavedHeads.class).putInto(heads);
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
