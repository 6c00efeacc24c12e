package dev.parley.audit;

import dev.parley.audit.AuditRecord.ChainPoint;
import dev.parley.protocol.Rejection;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The tables of the audit trail. For one platform thread.
final class AuditTable {

  private static final System.Logger LOG = System.getLogger(AuditTable.class.getName());

  private static final String INSERT =
      """
      INSERT INTO audit_records
          (number, time, principal, tenant, action, target, result, body, hash)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """;

  private final AuditDatabase database;
  private @Nullable Connection connection;
  private @Nullable ChainPoint head;

  AuditTable(AuditDatabase database) {
    this.database = database;
  }

  /// An event, and when it happened.
  record TimedEvent(Instant time, AuditEvent event) {}

  /// Appends records for these events, all or none. They are durable when this returns.
  ///
  /// @throws Rejection.Unavailable if that is not possible
  void append(List<TimedEvent> events) {
    inTransaction(
        () -> {
          var before = head();
          var last = before;
          try (var insert = connected().prepareStatement(INSERT)) {
            for (var event : events) {
              var made = AuditRecord.after(last, event.time(), event.event());
              bind(insert, made, event.time());
              insert.addBatch();
              last = made.point();
            }
            insert.executeBatch();
          }
          moveHead(before, last);
          return last;
        });
  }

  private static void bind(PreparedStatement insert, AuditRecord made, Instant time)
      throws SQLException {
    var fields = made.json();
    insert.setLong(1, made.number());
    insert.setLong(2, time.toEpochMilli());
    insert.setString(3, fields.path("principal").asString());
    insert.setString(4, fields.path("tenant").asString());
    insert.setString(5, fields.path("action").asString());
    insert.setString(6, fields.path("target").asString());
    insert.setString(7, fields.path("result").asString());
    insert.setString(8, made.text());
    insert.setString(9, made.hash());
  }

  /// Fails if another server has written in the meantime, or may write now.
  private void moveHead(ChainPoint before, ChainPoint last) throws SQLException {
    var sql =
        "UPDATE audit_state SET head_number = ?, head_hash = ?"
            + " WHERE id = 1 AND head_number = ? AND head_hash = ? AND "
            + database.writable();
    try (var update = connected().prepareStatement(sql)) {
      update.setLong(1, last.number());
      update.setString(2, last.hash());
      update.setLong(3, before.number());
      update.setString(4, before.hash());
      if (update.executeUpdate() != 1) {
        throw new SQLException("this server is not the active one any more");
      }
    }
  }

  private interface Work {
    ChainPoint run() throws SQLException;
  }

  private void inTransaction(Work work) {
    try {
      var open = connected();
      open.setAutoCommit(false);
      head = work.run();
      open.commit();
      open.setAutoCommit(true);
    } catch (SQLException failed) {
      disconnect();
      throw new Rejection.Unavailable(
          "the audit trail in " + database + " cannot be written: " + failed.getMessage());
    }
  }

  /// Reads the end of the chain if this server has not written it.
  private ChainPoint head() throws SQLException {
    if (head == null) {
      head = points().head();
    }
    return head;
  }

  /// The end of the chain, and the last record that was deleted because of its age.
  record ChainPoints(ChainPoint anchor, ChainPoint head) {}

  private ChainPoints points() throws SQLException {
    try (var statement = connected().createStatement()) {
      statement.execute(
          "INSERT INTO audit_state (id, head_number, head_hash, anchor_number, anchor_hash)"
              + " VALUES (1, 0, '"
              + AuditRecord.NO_HASH
              + "', 0, '"
              + AuditRecord.NO_HASH
              + "') ON CONFLICT DO NOTHING");
      try (var rows =
          statement.executeQuery(
              "SELECT anchor_number, anchor_hash, head_number, head_hash FROM audit_state")) {
        rows.next();
        return new ChainPoints(
            new ChainPoint(rows.getLong(1), rows.getString(2)),
            new ChainPoint(rows.getLong(3), rows.getString(4)));
      }
    }
  }

  /// The ends of the chain.
  ChainPoints ends() {
    if (connection == null && !database.exists()) {
      return new ChainPoints(ChainPoint.START, ChainPoint.START);
    }
    try {
      return points();
    } catch (SQLException failed) {
      throw unreadable(failed);
    }
  }

  /// Deletes the oldest records that are older than `age`, and returns how many these are.
  long deleteOlderThan(Duration age, Instant now) {
    if (connection == null && !database.exists()) {
      return 0;
    }
    try {
      var cutoff = now.minus(age).toEpochMilli();
      var anchor = newAnchor(cutoff);
      if (anchor == null) {
        return 0;
      }
      var deleted = anchor.number() - points().anchor().number();
      inTransaction(
          () -> {
            moveAnchor(anchor);
            return head();
          });
      return deleted;
    } catch (SQLException failed) {
      disconnect();
      throw unreadable(failed);
    }
  }

  /// The last record of the oldest ones that are all older than `cutoff`; null if there are none.
  private @Nullable ChainPoint newAnchor(long cutoff) throws SQLException {
    var sql =
        """
        SELECT number, hash FROM audit_records WHERE number =
          (SELECT max(number) FROM audit_records WHERE time < ? AND number <
            coalesce((SELECT min(number) FROM audit_records WHERE time >= ?), 9223372036854775807))
        """;
    try (var query = connected().prepareStatement(sql)) {
      query.setLong(1, cutoff);
      query.setLong(2, cutoff);
      try (var rows = query.executeQuery()) {
        return rows.next() ? new ChainPoint(rows.getLong(1), rows.getString(2)) : null;
      }
    }
  }

  private void moveAnchor(ChainPoint anchor) throws SQLException {
    try (var update =
            connected()
                .prepareStatement(
                    "UPDATE audit_state SET anchor_number = ?, anchor_hash = ? WHERE id = 1 AND "
                        + database.writable());
        var delete = connected().prepareStatement("DELETE FROM audit_records WHERE number <= ?")) {
      update.setLong(1, anchor.number());
      update.setString(2, anchor.hash());
      if (update.executeUpdate() != 1) {
        throw new SQLException("this server is not the active one any more");
      }
      delete.setLong(1, anchor.number());
      delete.executeUpdate();
    }
  }

  /// Reads a page of records.
  List<AuditRecord> read(AuditQuery query) {
    if (connection == null && !database.exists()) {
      return List.of();
    }
    var conditions = new ArrayList<String>();
    var values = new ArrayList<Object>();
    equal("principal", query.principal(), conditions, values);
    equal("tenant", query.tenant(), conditions, values);
    equal("result", query.result(), conditions, values);
    match("action", query.action(), conditions, values);
    match("target", query.target(), conditions, values);
    query.since().ifPresent(time -> add("time >= ?", time.toEpochMilli(), conditions, values));
    query.until().ifPresent(time -> add("time < ?", time.toEpochMilli(), conditions, values));
    query.after().ifPresent(number -> add("number > ?", number, conditions, values));
    query.before().ifPresent(number -> add("number < ?", number, conditions, values));
    var sql =
        "SELECT number, body, hash FROM audit_records"
            + (conditions.isEmpty() ? "" : " WHERE " + String.join(" AND ", conditions))
            + " ORDER BY number "
            + (query.after().isPresent() ? "ASC" : "DESC")
            + " LIMIT "
            + query.limit();
    try (var statement = connected().prepareStatement(sql)) {
      for (var i = 0; i < values.size(); i++) {
        statement.setObject(i + 1, values.get(i));
      }
      var found = new ArrayList<AuditRecord>();
      try (var rows = statement.executeQuery()) {
        while (rows.next()) {
          found.add(new AuditRecord(rows.getLong(1), rows.getString(2), rows.getString(3)));
        }
      }
      return found;
    } catch (SQLException failed) {
      disconnect();
      throw unreadable(failed);
    }
  }

  private static void add(
      String condition, Object value, List<String> conditions, List<Object> values) {
    conditions.add(condition);
    values.add(value);
  }

  private static void equal(
      String column, String value, List<String> conditions, List<Object> values) {
    if (!value.isEmpty()) {
      add(column + " = ?", value, conditions, values);
    }
  }

  private static void match(
      String column, String value, List<String> conditions, List<Object> values) {
    if (value.endsWith("*")) {
      var prefix = value.substring(0, value.length() - 1);
      add("substr(" + column + ", 1, " + prefix.length() + ") = ?", prefix, conditions, values);
    } else {
      equal(column, value, conditions, values);
    }
  }

  private Rejection unreadable(SQLException failed) {
    return new Rejection.Unavailable(
        "the audit trail in " + database + " cannot be read: " + failed.getMessage());
  }

  private Connection connected() throws SQLException {
    var open = connection;
    if (open == null) {
      open = database.connect();
      connection = open;
    }
    return open;
  }

  void disconnect() {
    var open = connection;
    connection = null;
    head = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException failed) {
        LOG.log(Level.WARNING, "closing {0} failed: {1}", database, failed.getMessage());
      }
    }
  }
}
