package dev.parley.projection;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskId;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// One row per version of an artifact, without its content.
///
/// A version is rewound when its first chunk is. `begin_seq` is the seq at which the artifact's
/// first version began; lists are sorted by it.
final class ArtifactTable {

  private static final String SELECT =
      """
      SELECT a.*, (SELECT l.version FROM artifacts l INDEXED BY artifacts_latest
          WHERE l.context = a.context
          AND l.artifact_id = a.artifact_id AND l.latest = 1) AS latest_version
      FROM artifacts a INDEXED BY\s
      """;

  private static final String LATEST =
      SELECT + "artifacts_in_order WHERE a.context = ? AND a.latest = 1";

  /// The state of a version before the next chunk is added.
  private record VersionState(
      long seq,
      int version,
      ArtifactView.ArtifactType type,
      ArtifactView.ArtifactStatus status,
      @Nullable Encoding encoding,
      String carry,
      int nextIndex,
      boolean rewound) {}

  private final SqlSession sqlSession;

  ArtifactTable(SqlSession sqlSession) {
    this.sqlSession = sqlSession;
  }

  void write(Entry entry, ArtifactEvent event) throws SQLException {
    if (ArtifactChunk.index(event) == 0) {
      begin(entry, event);
      return;
    }
    var written = findVersion(entry.contextId(), event);
    if (written.isEmpty() || written.get().rewound()) {
      begin(entry, event);
    } else if (written.get().status() == ArtifactView.ArtifactStatus.BUILDING) {
      extend(entry, event, written.get());
    }
  }

  /// Marks the artifacts that an ended task left unfinished as failed.
  void failUnfinished(Entry entry, TaskId task) throws SQLException {
    sqlSession.update(
        """
        UPDATE artifacts INDEXED BY artifacts_building SET status = 'failed', updated_at = ?
        WHERE context = ? AND task_id = ? AND status = 'building'
        """,
        entry.timestamp().toEpochMilli(),
        entry.contextId(),
        task);
  }

  /// Marks the last version that is not rewound as the latest.
  void updateLatest(ContextId context) throws SQLException {
    sqlSession.update(
        """
        UPDATE artifacts SET latest = seq IS (SELECT max(a.seq)
          FROM artifacts a INDEXED BY artifacts_by_id WHERE a.context = artifacts.context AND a.artifact_id = artifacts.artifact_id
          AND a.rewound = 0)
        WHERE context = ?
        """,
        context);
  }

  Optional<ArtifactView> find(ContextId context, ArtifactId artifact, @Nullable Integer version)
      throws SQLException {
    return sqlSession.first(
        SELECT
            + """
            artifacts_by_id WHERE a.context = ? AND a.artifact_id = ?
              AND (a.version = ? OR (? IS NULL AND a.rewound = 0))
              ORDER BY a.rewound, a.seq DESC LIMIT 1
            """,
        ArtifactTable::view,
        context,
        artifact,
        version,
        version);
  }

  /// Returns artifacts in their latest version, and the cursor of the last one.
  ResultPage<ArtifactView> page(ContextId context, long after, int limit) throws SQLException {
    record Found(ArtifactView artifact, long begin) {}
    var found =
        sqlSession.list(
            LATEST + " AND a.begin_seq > ? ORDER BY a.begin_seq LIMIT ?",
            row -> new Found(view(row), row.number("begin_seq")),
            context,
            after,
            limit + 1);
    var items = found.stream().limit(limit).map(Found::artifact).toList();
    var more = found.size() > limit;
    return new ResultPage<>(items, more ? Long.toString(found.get(limit - 1).begin()) : null);
  }

  /// Returns the artifacts that began last, in their latest version, oldest first.
  List<ArtifactView> newest(ContextId context, int limit) throws SQLException {
    return sqlSession
        .list(LATEST + " ORDER BY a.begin_seq DESC LIMIT ?", ArtifactTable::view, context, limit)
        .reversed();
  }

  /// Returns the changes that restore the artifacts to what they were when only these ranges were
  /// active.
  ObjectNode differenceTo(ContextId context, List<RewindTable.SeqRange> counted)
      throws SQLException {
    var now = Json.object();
    versions(context, "latest = 1", 0, Long.MAX_VALUE)
        .forEach(version -> now.put(version.id(), version.number()));
    var then = Json.object();
    for (var seqRange : counted) {
      versions(context, "1 = 1", seqRange.first(), seqRange.last())
          .forEach(version -> then.put(version.id(), version.number()));
    }
    return ColumnValues.difference(now, then);
  }

  private record Version(String id, int number) {}

  private List<Version> versions(ContextId context, String which, long first, long last)
      throws SQLException {
    return sqlSession.list(
        "SELECT artifact_id, version, max(seq) FROM artifacts WHERE context = ? AND "
            + which
            + " AND seq BETWEEN ? AND ? GROUP BY artifact_id ORDER BY artifact_id",
        row -> new Version(row.text("artifact_id"), (int) row.number("version")),
        context,
        first,
        last);
  }

  private void begin(Entry entry, ArtifactEvent event) throws SQLException {
    var context = entry.contextId();
    var id = event.artifactId();
    var begin =
        sqlSession
            .first(
                """
                SELECT begin_seq FROM artifacts INDEXED BY artifacts_latest
                WHERE context = ? AND artifact_id = ? AND latest = 1
                """,
                row -> row.number("begin_seq"),
                context,
                id)
            .orElse(entry.position().seq());
    var version = version(entry.contextId(), event);
    sqlSession.update(
        """
        UPDATE artifacts INDEXED BY artifacts_latest SET latest = 0
        WHERE context = ? AND artifact_id = ? AND latest = 1
        """,
        context,
        id);
    insert(entry, event, version, begin);
    describe(entry, event);
    if (ArtifactChunk.index(event) == 0) {
      extend(entry, event, findVersion(entry.contextId(), event).orElseThrow());
    } else {
      fail(entry, entry.position().seq());
    }
  }

  /// Returns the version that the event names, or else the highest version so far plus one. Rewound
  /// versions are included, as in the log.
  private int version(ContextId context, ArtifactEvent event) throws SQLException {
    var named = event.version();
    if (named != null) {
      return named;
    }
    return sqlSession
        .first(
            """
            SELECT coalesce(max(version), 0) AS highest FROM artifacts INDEXED BY artifacts_by_id
            WHERE context = ? AND artifact_id = ?
            """,
            row -> (int) row.number("highest") + 1,
            context,
            event.artifactId())
        .orElse(1);
  }

  private void insert(Entry entry, ArtifactEvent event, int version, long begin)
      throws SQLException {
    var now = entry.timestamp().toEpochMilli();
    sqlSession.update(
        """
        INSERT INTO artifacts (context, seq, artifact_id, version, type, status, size, carry,
          next_index, task_id, last_seq, begin_seq, created_at, updated_at, latest)
        VALUES (?, ?, ?, ?, ?, 'building', 0, '', 0, ?, ?, ?, ?, ?, 1)
        """,
        entry.contextId(),
        entry.position().seq(),
        event.artifactId(),
        version,
        ArtifactChunk.type(event).wire(),
        entry.taskId(),
        entry.position().seq(),
        begin,
        now,
        now);
  }

  private void describe(Entry entry, ArtifactEvent event) throws SQLException {
    var context = entry.contextId();
    var seq = entry.position().seq();
    var common = "UPDATE artifacts SET name = ?, description = ?";
    var which = " WHERE context = ? AND seq = ?";
    switch (event) {
      case FileWrite file ->
          sqlSession.update(
              common + ", mime_type = ?, encoding = ?" + which,
              file.name(),
              file.description(),
              file.mimeType(),
              ColumnValues.of(file.encoding()),
              context,
              seq);
      case DataWrite data ->
          sqlSession.update(common + which, data.name(), data.description(), context, seq);
      case DatasetWrite rows ->
          sqlSession.update(
              common + ", schema = ?" + which,
              rows.name(),
              rows.description(),
              ColumnValues.json(rows.schema()),
              context,
              seq);
    }
  }

  private void extend(Entry entry, ArtifactEvent event, VersionState versionState)
      throws SQLException {
    var chunk =
        versionState.nextIndex() == ArtifactChunk.index(event)
                && versionState.type() == ArtifactChunk.type(event)
            ? ArtifactChunk.of(event, versionState.encoding(), versionState.carry())
            : Optional.<ArtifactChunk>empty();
    if (chunk.isEmpty()) {
      fail(entry, versionState.seq());
      return;
    }
    sqlSession.update(
        """
        UPDATE artifacts SET size = size + ?, carry = ?, next_index = next_index + 1,
          last_seq = ?, updated_at = ?, status = ?
        WHERE context = ? AND seq = ?
        """,
        chunk.get().size(),
        chunk.get().carry(),
        entry.position().seq(),
        entry.timestamp().toEpochMilli(),
        (ArtifactChunk.last(event)
                ? ArtifactView.ArtifactStatus.COMPLETE
                : ArtifactView.ArtifactStatus.BUILDING)
            .wire(),
        entry.contextId(),
        versionState.seq());
  }

  private void fail(Entry entry, long seq) throws SQLException {
    sqlSession.update(
        "UPDATE artifacts SET status = 'failed', updated_at = ? WHERE context = ? AND seq = ?",
        entry.timestamp().toEpochMilli(),
        entry.contextId(),
        seq);
  }

  /// Returns the version that a chunk belongs to: the version that it names, or the last one.
  private Optional<VersionState> findVersion(ContextId context, ArtifactEvent event)
      throws SQLException {
    return sqlSession.first(
        """
        SELECT * FROM artifacts INDEXED BY artifacts_by_id
        WHERE context = ? AND artifact_id = ? AND (version = ? OR ? IS NULL)
        ORDER BY seq DESC LIMIT 1
        """,
        row ->
            new VersionState(
                row.number("seq"),
                (int) row.number("version"),
                row.name("type", ArtifactView.ArtifactType.class),
                row.name("status", ArtifactView.ArtifactStatus.class),
                row.optionalName("encoding", Encoding.class),
                row.text("carry"),
                (int) row.number("next_index"),
                row.flag("rewound")),
        context,
        event.artifactId(),
        event.version(),
        event.version());
  }

  private static ArtifactView view(Row row) throws SQLException {
    return new ArtifactView(
        new ArtifactId(row.text("artifact_id")),
        row.name("type", ArtifactView.ArtifactType.class),
        (int) row.number("version"),
        (int) row.number("latest_version"),
        row.name("status", ArtifactView.ArtifactStatus.class),
        row.optionalText("name"),
        row.optionalText("description"),
        row.optionalText("mime_type"),
        row.optionalName("encoding", Encoding.class),
        row.optionalJson("schema"),
        row.number("size"),
        row.optionalId("task_id", TaskId::new),
        row.number("seq"),
        row.number("last_seq"),
        row.time("created_at"),
        row.time("updated_at"),
        row.flag("rewound") ? true : null);
  }
}
