package dev.parley.bench;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/// A row for every token, numbered by `MAX(sequence_number) + 1`: the schema of
/// headless-agent-manager.
///
/// Like Parley, it uses `synchronous=FULL`, and one thread owns the connection, so that no write
/// waits for a locked file.
final class RowPerEventAppender implements DurableAppender {

  private static final List<String> SCHEMA =
      List.of(
          "PRAGMA journal_mode = WAL",
          "PRAGMA synchronous = FULL",
          "PRAGMA foreign_keys = ON",
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

  private final Connection connection;
  private final PreparedStatement insert;
  private final String[] agents;
  private final WriteQueue<Token> writeQueue;

  private record Token(int context, String text) {}

  /// Writes up to `batchMax` tokens in a transaction: one, as the original does, unless only the
  /// size of the file is measured.
  RowPerEventAppender(Path folder, int contexts, int batchMax) {
    agents =
        IntStream.range(0, contexts)
            .mapToObj(_ -> UUID.randomUUID().toString())
            .toArray(String[]::new);
    try {
      connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("rows.db"));
      for (var statement : SCHEMA) {
        execute(statement);
      }
      connection.setAutoCommit(false);
      for (var agent : agents) {
        execute("INSERT INTO agents VALUES ('" + agent + "')");
      }
      connection.commit();
      insert = connection.prepareStatement(INSERT);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
    writeQueue = new WriteQueue<>(batchMax, this::write);
  }

  @Override
  public String name() {
    return "row and transaction per event";
  }

  @Override
  public void append(int context, int index, String text) {
    writeQueue.write(new Token(context, text));
  }

  private void write(List<Token> batch) {
    try {
      for (var token : batch) {
        insert(token);
      }
      connection.commit();
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private void insert(Token token) throws SQLException {
    var agent = agents[token.context()];
    insert.setString(1, UUID.randomUUID().toString());
    insert.setString(2, agent);
    insert.setString(3, agent);
    insert.setString(4, token.text());
    insert.setString(5, raw(token.text(), agent));
    insert.setString(6, Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
    insert.executeUpdate();
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

  private void execute(String sql) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(sql);
    }
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
