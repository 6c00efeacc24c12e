package dev.parley.bench;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/// A row for every token, numbered by `MAX(sequence_number) + 1`: the schema of
/// headless-agent-manager.
///
/// Like Parley, it uses `synchronous=FULL` in SQLite, and one thread owns each connection, so that no
/// write waits for a locked file. The same tables and statement work in PostgreSQL.
final class RowPerEventAppender implements DurableAppender {

  private static final List<String> SQLITE =
      List.of("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON");

  private static final List<String> SCHEMA =
      List.of(
          "CREATE TABLE agents (id TEXT PRIMARY KEY)",
          """
          CREATE TABLE agent_messages (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL,
            sequence_number INTEGER NOT NULL,
            type TEXT NOT NULL,
            role TEXT,
            content TEXT NOT NULL,
            raw TEXT,
            metadata TEXT,
            created_at TEXT NOT NULL,
            FOREIGN KEY (agent_id) REFERENCES agents(id) ON DELETE CASCADE,
            UNIQUE (agent_id, sequence_number))
          """,
          "CREATE INDEX idx_messages_agent_id ON agent_messages (agent_id)",
          "CREATE INDEX idx_messages_sequence ON agent_messages (agent_id, sequence_number)",
          "CREATE INDEX idx_messages_created_at ON agent_messages (created_at)");

  private static final String INSERT =
      """
      INSERT INTO agent_messages VALUES (?, ?,
        COALESCE((SELECT MAX(sequence_number) FROM agent_messages WHERE agent_id = ?), 0) + 1,
        'assistant', 'assistant', ?, ?, '{"eventType":"content_delta"}', ?)
      """;

  private final String name;
  private final String[] agents;
  private final List<RowWriter> writers;

  private record Token(int context, String text) {}

  /// Writes up to `batchMax` tokens in a transaction: one, as the original does, unless only the
  /// size of the file is measured.
  RowPerEventAppender(Path folder, int contexts, int batchMax) {
    this("row and transaction per event", List.of(sqlite(folder)), contexts, batchMax);
  }

  /// Writes to a new database. Each context always uses the same one of the connections, and each
  /// connection writes up to `batchMax` tokens in a transaction.
  RowPerEventAppender(String name, List<Connection> connections, int contexts, int batchMax) {
    this.name = name;
    agents =
        IntStream.range(0, contexts)
            .mapToObj(_ -> UUID.randomUUID().toString())
            .toArray(String[]::new);
    try {
      createTables(connections.getFirst());
      writers = new ArrayList<>();
      for (var connection : connections) {
        writers.add(new RowWriter(connection, batchMax));
      }
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static Connection sqlite(Path folder) {
    try {
      var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("rows.db"));
      for (var statement : SQLITE) {
        execute(connection, statement);
      }
      return connection;
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private void createTables(Connection connection) throws SQLException {
    for (var statement : SCHEMA) {
      execute(connection, statement);
    }
    connection.setAutoCommit(false);
    for (var agent : agents) {
      execute(connection, "INSERT INTO agents VALUES ('" + agent + "')");
    }
    connection.commit();
    connection.setAutoCommit(true);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void append(int context, int index, String text) {
    writers.get(context % writers.size()).write(new Token(context, text));
  }

  /// A connection, and the thread that uses it.
  private final class RowWriter implements AutoCloseable {

    private final Connection connection;
    private final PreparedStatement insert;
    private final WriteQueue<Token> writeQueue;

    RowWriter(Connection connection, int batchMax) throws SQLException {
      this.connection = connection;
      connection.setAutoCommit(batchMax == 1);
      insert = connection.prepareStatement(INSERT);
      writeQueue = new WriteQueue<>(batchMax, this::insert);
    }

    void write(Token token) {
      writeQueue.write(token);
    }

    private void insert(List<Token> batch) {
      try {
        for (var token : batch) {
          set(token);
          insert.addBatch();
        }
        insert.executeBatch();
        if (!connection.getAutoCommit()) {
          connection.commit();
        }
      } catch (SQLException failed) {
        throw new IllegalStateException(failed);
      }
    }

    private void set(Token token) throws SQLException {
      var agent = agents[token.context()];
      insert.setString(1, UUID.randomUUID().toString());
      insert.setString(2, agent);
      insert.setString(3, agent);
      insert.setString(4, token.text());
      insert.setString(5, raw(token.text(), agent));
      insert.setString(6, Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
    }

    @Override
    public void close() {
      writeQueue.close();
      try {
        connection.close();
      } catch (SQLException failed) {
        throw new IllegalStateException(failed);
      }
    }
  }

  /// The output line of the command-line agent for this token.
  private static String raw(String text, String session) {
    return "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,"
        + "\"delta\":{\"type\":\"text_delta\",\"text\":\""
        + text
        + "\"}},\"session_id\":\""
        + session
        + "\",\"parent_tool_use_id\":null,\"uuid\":\""
        + UUID.randomUUID()
        + "\"}";
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() {
    writers.forEach(RowWriter::close);
  }
}
