package dev.parley.server;

import dev.parley.auth.VaultStorage;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Optional;

/// The vault of a cluster, in its database. Only the active server writes it.
record SharedVault(PostgresDatabase database, PostgresNode node) implements VaultStorage {

  @Override
  public Optional<byte[]> read(int bytesMax) throws IOException {
    try (var connection = database.connect();
        var statement =
            connection.prepareStatement(
                "SELECT CASE WHEN length(data) <= ? THEN data END FROM vault")) {
      statement.setInt(1, bytesMax);
      try (var rows = statement.executeQuery()) {
        if (!rows.next()) {
          return Optional.empty();
        }
        var data = rows.getBytes(1);
        if (data == null) {
          throw new Rejection.Unavailable(this + " is too large to be a vault");
        }
        return Optional.of(data);
      }
    } catch (SQLException failed) {
      throw new IOException(failed);
    }
  }

  @Override
  public void write(byte[] content) throws IOException {
    try (var connection = database.connect();
        var statement =
            connection.prepareStatement(
                "INSERT INTO vault (id, data) SELECT 1, ?::bytea WHERE "
                    + node.activeCondition()
                    + " ON CONFLICT (id) DO UPDATE SET data = excluded.data")) {
      statement.setBytes(1, content);
      if (statement.executeUpdate() == 0) {
        throw new IOException("this server is not the active one any more");
      }
    } catch (SQLException failed) {
      throw new IOException(failed);
    }
  }

  @Override
  public String toString() {
    return "the vault in " + database;
  }
}
