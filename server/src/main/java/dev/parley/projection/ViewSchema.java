package dev.parley.projection;

import dev.parley.log.OwnerOnlyFiles;
import dev.parley.projection.CheckpointCache.Checkpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;

/// The tables of the views, and the opening, creation and deletion of their file.
///
/// Queries name the index that they need. Otherwise SQLite would prefer to read all rows of a
/// context, which are stored together.
final class ViewSchema {

  /// Increase this with every change of the tables or of what is written to them. Files with
  /// another version are deleted and rebuilt.
  private static final int VERSION = 11;

  /// 256 MiB in pages of 4 KiB, for a snapshot.
  private static final int MEMORY_PAGES_MAX = 65_536;

  /// 64 MiB in pages of 4 KiB: a transaction is written to the disk before its end only if it
  /// changes more. This limits [ViewThread#callWithoutSaving].
  ///
  /// SQLite takes a number whose last byte is 0 for `OFF`, which is no limit.
  private static final int UNSAVED_PAGES_MAX = 16_383;

  /// 16 MiB in pages of 4 KiB, which the write-ahead log reaches before SQLite copies it into the
  /// database. A catch-up changes the same pages again and again; the default of 4 MiB writes them
  /// more often.
  private static final int LOG_PAGES = 4_096;

  /// The tables that are folds of the log, with their keys. The tables of the feed and `meta` are
  /// not folds: they record when entries were processed.
  static final Map<String, String> KEYS =
      Map.ofEntries(
          Map.entry("contexts", "context"),
          Map.entry("messages", "context, seq"),
          Map.entry("edits", "context, seq, message_seq"),
          Map.entry("tasks", "context, seq"),
          Map.entry("artifacts", "context, seq"),
          Map.entry("usage", "context, seq"),
          Map.entry("state", "context, seq, key"),
          Map.entry("inputs", "context, id"),
          Map.entry("auths", "context, id"),
          Map.entry("questions", "context, kind, id"),
          Map.entry("blocks", "context, task_id, block_id"),
          Map.entry("rewinds", "context, seq"),
          Map.entry("stored", "context, seq"),
          Map.entry("numbers", "context, task_id"),
          Map.entry("marks", "context, task_id, n"),
          Map.entry("text_uses", "context, hash"));

  private static final List<String> TABLES =
      List.of(
          "CREATE TABLE meta (mark INTEGER NOT NULL)",
          "INSERT INTO meta VALUES (0)",
          "CREATE TABLE texts (hash BLOB NOT NULL UNIQUE, text TEXT NOT NULL)",
          """
          CREATE TABLE text_uses (context TEXT, hash BLOB, PRIMARY KEY (context, hash))
            WITHOUT ROWID
          """,
          "CREATE INDEX text_uses_by_hash ON text_uses (hash)",
          """
          CREATE TABLE contexts (context TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT,
            title_seq INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
            seq INTEGER NOT NULL, k INTEGER NOT NULL, message_count INTEGER NOT NULL,
            open_tasks INTEGER NOT NULL, metadata TEXT, forked_from TEXT,
            forked_at INTEGER NOT NULL) WITHOUT ROWID
          """,
          "CREATE INDEX contexts_by_change ON contexts (updated_at, context)",
          """
          CREATE TABLE messages (context TEXT, seq INTEGER, message_id TEXT NOT NULL,
            role TEXT NOT NULL, content TEXT NOT NULL, parts TEXT, task_id TEXT, agent_id TEXT,
            created_at INTEGER NOT NULL, metadata TEXT, edit INTEGER,
            deleted INTEGER NOT NULL DEFAULT 0, rewound INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (context, seq)) WITHOUT ROWID
          """,
          "CREATE INDEX messages_by_id ON messages (message_id, context)",
          """
          CREATE TABLE edits (context TEXT, seq INTEGER, message_seq INTEGER NOT NULL,
            content TEXT, metadata TEXT, edited_at INTEGER NOT NULL, deletes INTEGER NOT NULL,
            PRIMARY KEY (context, seq, message_seq)) WITHOUT ROWID
          """,
          "CREATE INDEX edits_by_message ON edits (message_seq, context)",
          """
          CREATE TABLE tasks (context TEXT, seq INTEGER, task_id TEXT NOT NULL,
            parent_task_id TEXT, root_task_id TEXT NOT NULL, agent_id TEXT NOT NULL,
            agent_level TEXT NOT NULL, invocation_id TEXT, spawned_by_call_id TEXT,
            status TEXT NOT NULL, message TEXT, initiator TEXT NOT NULL, message_id TEXT,
            prompt TEXT, task_type TEXT, priority TEXT, timeout_ms INTEGER,
            working_directory TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
            ended_at INTEGER, end_seq INTEGER, cancel_requested INTEGER NOT NULL DEFAULT 0, content TEXT,
            artifacts TEXT, error TEXT, metadata TEXT, shared INTEGER NOT NULL DEFAULT 0,
            rewound INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (context, seq)) WITHOUT ROWID
          """,
          "CREATE INDEX tasks_by_id ON tasks (task_id, context)",
          "CREATE INDEX tasks_by_root ON tasks (root_task_id, context)",
          "CREATE INDEX tasks_open ON tasks (context) WHERE ended_at IS NULL",
          """
          CREATE INDEX tasks_roots ON tasks (created_at, seq, context)
            WHERE parent_task_id IS NULL AND shared = 0
          """,
          """
          CREATE INDEX tasks_roots_open ON tasks (created_at, seq, context)
            WHERE parent_task_id IS NULL AND ended_at IS NULL AND shared = 0
          """,
          """
          CREATE INDEX tasks_roots_by_change ON tasks (agent_id, updated_at, seq, context)
            WHERE parent_task_id IS NULL AND shared = 0
          """,
          """
          CREATE TABLE stored (context TEXT, seq INTEGER, task_id TEXT NOT NULL, task TEXT,
            shared INTEGER NOT NULL DEFAULT 0, rewound INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (context, seq)) WITHOUT ROWID
          """,
          "CREATE INDEX stored_by_task ON stored (task_id, context)",
          """
          CREATE TABLE numbers (context TEXT, task_id TEXT, n INTEGER NOT NULL,
            seq INTEGER NOT NULL, PRIMARY KEY (context, task_id)) WITHOUT ROWID
          """,
          """
          CREATE TABLE marks (context TEXT, task_id TEXT, n INTEGER, seq INTEGER NOT NULL,
            PRIMARY KEY (context, task_id, n)) WITHOUT ROWID
          """,
          """
          CREATE TABLE artifacts (context TEXT, seq INTEGER, artifact_id TEXT NOT NULL,
            version INTEGER NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, name TEXT,
            description TEXT, mime_type TEXT, encoding TEXT, schema TEXT, size INTEGER NOT NULL,
            carry TEXT NOT NULL, next_index INTEGER NOT NULL, task_id TEXT,
            last_seq INTEGER NOT NULL, begin_seq INTEGER NOT NULL, created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL, latest INTEGER NOT NULL,
            rewound INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (context, seq)) WITHOUT ROWID
          """,
          "CREATE INDEX artifacts_by_id ON artifacts (artifact_id, context)",
          "CREATE INDEX artifacts_by_task ON artifacts (task_id, context)",
          "CREATE INDEX artifacts_latest ON artifacts (artifact_id, context) WHERE latest = 1",
          "CREATE INDEX artifacts_in_order ON artifacts (context, begin_seq) WHERE latest = 1",
          """
          CREATE INDEX artifacts_building ON artifacts (task_id, context)
            WHERE status = 'building'
          """,
          """
          CREATE TABLE usage (context TEXT, seq INTEGER, model TEXT NOT NULL,
            input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
            cache_creation_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL,
            cost_usd TEXT, rewound INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (context, seq)) WITHOUT ROWID
          """,
          """
          CREATE TABLE state (context TEXT, seq INTEGER, key TEXT, value TEXT,
            rewound INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (context, seq, key)) WITHOUT ROWID
          """,
          """
          CREATE TABLE inputs (context TEXT, id TEXT, seq INTEGER NOT NULL, task_id TEXT,
            asked_at INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (context, id)) WITHOUT ROWID
          """,
          "CREATE INDEX inputs_by_time ON inputs (asked_at, context, id)",
          """
          CREATE TABLE auths (context TEXT, id TEXT, seq INTEGER NOT NULL, task_id TEXT,
            asked_at INTEGER NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (context, id)) WITHOUT ROWID
          """,
          "CREATE INDEX auths_by_time ON auths (asked_at, context, id)",
          """
          CREATE TABLE questions (context TEXT, kind TEXT, id TEXT, task_id TEXT,
            PRIMARY KEY (context, kind, id)) WITHOUT ROWID
          """,
          """
          CREATE TABLE blocks (context TEXT, task_id TEXT, block_id TEXT, seq INTEGER NOT NULL,
            PRIMARY KEY (context, task_id, block_id)) WITHOUT ROWID
          """,
          """
          CREATE TABLE rewinds (context TEXT, seq INTEGER, to_seq INTEGER NOT NULL,
            PRIMARY KEY (context, seq)) WITHOUT ROWID
          """,
          """
          CREATE TABLE moves (mark INTEGER, n INTEGER, context TEXT NOT NULL, owner TEXT NOT NULL,
            from_seq INTEGER NOT NULL, from_k INTEGER NOT NULL, to_seq INTEGER, to_k INTEGER,
            PRIMARY KEY (mark, n)) WITHOUT ROWID
          """,
          "CREATE INDEX moves_by_context ON moves (context)",
          """
          CREATE TABLE feed (live INTEGER NOT NULL, pruned INTEGER NOT NULL)
          """,
          "INSERT INTO feed VALUES (0, 0)",
          """
          CREATE TABLE moved (context TEXT PRIMARY KEY, owner TEXT NOT NULL, seq INTEGER NOT NULL,
            k INTEGER NOT NULL) WITHOUT ROWID
          """,
          "PRAGMA user_version = " + VERSION);

  private ViewSchema() {}

  /// Opens empty views in memory.
  static SqlSession inMemory() throws SQLException {
    var memory = connect(":memory:");
    create(memory);
    return memory;
  }

  /// Opens a copy of a checkpoint, or empty views, in memory, for a snapshot.
  static SqlSession snapshot(@Nullable Checkpoint start) throws SQLException {
    var memory = connect(":memory:");
    if (start == null) {
      create(memory);
    } else {
      memory.load(start.image());
    }
    memory.executeOutsideTransaction("PRAGMA max_page_count = " + MEMORY_PAGES_MAX);
    return memory;
  }

  /// Opens the views in `file`. A file that is corrupt or of another version is replaced by an
  /// empty one.
  static SqlSession open(Path file) throws SQLException {
    var kept = openKept(file);
    if (kept != null) {
      return kept;
    }
    delete(file);
    OwnerOnlyFiles.createFile(file);
    var fresh = connect(file.toString());
    create(fresh);
    return fresh;
  }

  /// Deletes the file and the files that SQLite keeps beside it.
  static void delete(Path file) {
    try {
      for (var suffix : List.of("", "-wal", "-shm", "-journal")) {
        Files.deleteIfExists(file.resolveSibling(file.getFileName() + suffix));
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /// Returns true if the file is damaged and must be deleted.
  static boolean broken(SQLException failure) {
    return switch (SQLiteErrorCode.getErrorCode(failure.getErrorCode() & 0xff)) {
      // SQLITE_ERROR is reported for tables that do not have our columns.
      case SQLITE_CORRUPT, SQLITE_ERROR, SQLITE_NOTADB -> true;
      case SQLITE_IOERR -> failure.getErrorCode() == SQLiteErrorCode.SQLITE_IOERR_SHORT_READ.code;
      default -> false;
    };
  }

  /// Returns true if this version wrote the tables of an open database.
  static boolean isCurrent(Connection connection) throws SQLException {
    try (var statement = connection.createStatement();
        var rows = statement.executeQuery("PRAGMA user_version")) {
      return rows.next() && rows.getInt(1) == VERSION;
    }
  }

  private static @Nullable SqlSession openKept(Path file) throws SQLException {
    if (!Files.exists(file)) {
      return null;
    }
    try {
      var kept = connect(file.toString());
      if (isCurrent(kept)) {
        return kept;
      }
      kept.close();
    } catch (SQLException failure) {
      if (!broken(failure)) {
        throw failure;
      }
    }
    return null;
  }

  private static boolean isCurrent(SqlSession kept) throws SQLException {
    try {
      var version = kept.first("PRAGMA user_version", row -> row.number("user_version"));
      kept.commit();
      return version.orElse(0L) == VERSION;
    } catch (SQLException failure) {
      kept.close();
      throw failure;
    }
  }

  private static SqlSession connect(String name) throws SQLException {
    var config = new SQLiteConfig();
    // Otherwise the driver queries the last row id after each update.
    config.setGetGeneratedKeys(false);
    var connection = config.createConnection("jdbc:sqlite:" + name);
    try (var statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode = WAL");
      // Not FULL: entries that are lost in a system crash are folded again. Not OFF: the file might
      // become corrupt.
      statement.execute("PRAGMA synchronous = NORMAL");
      statement.execute("PRAGMA secure_delete = ON");
      statement.execute("PRAGMA wal_autocheckpoint = " + LOG_PAGES);
      statement.execute("PRAGMA cache_spill = " + UNSAVED_PAGES_MAX);
      // What SQLite needs to undo a statement must not depend on space on a disk.
      statement.execute("PRAGMA temp_store = MEMORY");
      connection.setAutoCommit(false);
      return new SqlSession(connection);
    } catch (SQLException failure) {
      connection.close();
      throw failure;
    }
  }

  private static void create(SqlSession sqlSession) throws SQLException {
    for (var statement : TABLES) {
      sqlSession.update(statement);
    }
    sqlSession.commit();
  }
}
