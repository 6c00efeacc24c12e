package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// A server that others have taken over from writes nothing, and a server that loses its connection
/// loses nothing.
final class PostgresFencingTest {

  private final String url = TestPostgres.createDatabase();
  private final PostgresDatabase database = TestPostgres.database(url);

  @Test
  void a_server_whose_contexts_were_taken_over_writes_nothing() {
    try (var first = TestPostgres.open(url)) {
      first.create(CONTEXT, created());
      append(first, CONTEXT, "before");
      try (var second = TestPostgres.open(url)) {
        assertThatThrownBy(() -> append(first, CONTEXT, "late"))
            .isInstanceOf(Rejection.Unavailable.class);
        assertThatThrownBy(() -> first.create(new ContextId("late"), created()))
            .isInstanceOf(Rejection.Unavailable.class);
        append(second, CONTEXT, "after");
        assertThat(events(second))
            .containsExactly(created(), message("before").event(), message("after").event());
      }
    }
    try (var third = TestPostgres.open(url)) {
      assertThat(events(third)).hasSize(3);
      assertThatThrownBy(() -> third.head(new ContextId("late")))
          .isInstanceOf(Rejection.NotFound.class);
    }
  }

  @Test
  void a_commit_that_arrives_after_its_connection_was_given_up_changes_nothing()
      throws SQLException {
    var store = store(TestPostgres.activate(database));
    try (var early = store.openWriter();
        var late = store.openWriter()) {
      var id = late.lastBlock() + 1;
      assertThatThrownBy(() -> early.write(commit(id), new byte[] {1}))
          .isInstanceOf(FencedException.class);
      assertThatThrownBy(() -> early.write(deleting(id), new byte[] {1}))
          .isInstanceOf(FencedException.class);
      assertThat(late.hasCommit(id)).isFalse();
      late.write(commit(id), new byte[] {1});
      assertThat(late.hasCommit(id)).isTrue();
    }
  }

  @Test
  void a_writer_does_not_take_the_block_of_its_successor_for_its_own() throws SQLException {
    try (var early = store(TestPostgres.activate(database)).openWriter()) {
      var id = early.lastBlock() + 1;
      assertThat(early.hasCommit(id)).isFalse();
      try (var late = store(TestPostgres.activate(database)).openWriter()) {
        late.write(commit(id), new byte[] {1});
        assertThatThrownBy(() -> early.hasCommit(id)).isInstanceOf(FencedException.class);
        assertThat(late.hasCommit(id)).isTrue();
      }
    }
  }

  @Test
  void a_dead_node_cannot_open_a_writer_again() {
    var node = TestPostgres.activate(database);
    TestPostgres.activate(database);

    assertThatThrownBy(() -> store(node).openWriter())
        .isInstanceOf(FencedException.class)
        .hasMessageContaining("is not the active one any more");
  }

  @Test
  void of_two_nodes_that_take_over_from_the_same_one_only_one_succeeds() throws SQLException {
    TestPostgres.activate(database);
    try (var connection = database.connect()) {
      var first = register(connection);
      var second = register(connection);
      var active = active(first.beat(connection)).orElseThrow();

      assertThat(first.takeOver(connection, active)).isTrue();
      assertThat(second.takeOver(connection, active)).isFalse();
      assertThat(second.takeOver(connection, null)).isFalse();
      assertThat(active(second.beat(connection)).map(NodeRow::id)).contains(first.id());
    }
  }

  @Test
  void a_server_does_not_take_over_a_database_that_a_newer_version_has_migrated()
      throws SQLException {
    var node = TestPostgres.activate(database);
    try (var connection = database.connect()) {
      var old = register(connection);
      var seen = active(old.beat(connection)).orElseThrow();
      Jdbc.execute(connection, "UPDATE schema_version SET version = version + 1");

      assertThatThrownBy(() -> old.takeOver(connection, seen))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("a newer version of Parley wrote the log");
      assertThat(active(old.beat(connection)).map(NodeRow::id)).contains(node.id());
    }
  }

  @Test
  void a_node_that_gave_a_sign_of_life_is_not_declared_dead() throws SQLException {
    var node = TestPostgres.activate(database);
    try (var connection = database.connect()) {
      var other = register(connection);
      var seen = active(other.beat(connection)).orElseThrow();
      node.beat(connection);

      assertThat(other.takeOver(connection, seen)).isFalse();
      assertThat(PostgresNode.declareDead(connection, seen)).isFalse();
    }
  }

  @Test
  void a_node_that_stops_in_the_middle_of_a_commit_blocks_others_only_briefly()
      throws SQLException {
    var node = TestPostgres.activate(database);
    try (var frozen = database.connect();
        var connection = database.connect()) {
      frozen.setAutoCommit(false);
      assertThat(node.raiseEpoch(frozen)).isPresent();

      var other = register(connection);
      var seen = active(other.beat(connection)).orElseThrow();
      assertThat(other.takeOver(connection, seen)).isTrue();
      assertThatThrownBy(frozen::commit).isInstanceOf(SQLException.class);
    }
    assertThatThrownBy(() -> store(node).openWriter()).isInstanceOf(FencedException.class);
  }

  @Test
  void a_takeover_waits_for_a_commit_that_has_begun() throws Exception {
    var node = TestPostgres.activate(database);
    try (var committing = database.connect();
        var connection = database.connect()) {
      TestPostgres.beginLong(committing);
      assertThat(node.raiseEpoch(committing)).isPresent();

      var taking = takeOverInBackground();
      TestPostgres.awaitLockOrEnd(connection, taking);
      committing.commit();
      assertThat(taking.get()).isTrue();
    }
    assertThatThrownBy(() -> store(node).openWriter()).isInstanceOf(FencedException.class);
  }

  @Test
  void a_takeover_waits_for_other_writes_of_the_active_node() throws Exception {
    var node = TestPostgres.activate(database);
    try (var writing = database.connect();
        var connection = database.connect()) {
      TestPostgres.beginLong(writing);
      assertThat(isActive(node, writing)).isTrue();

      var taking = takeOverInBackground();
      TestPostgres.awaitLockOrEnd(connection, taking);
      assertThat(taking).isNotDone();
      // Commits of the log do not wait.
      assertThat(node.raiseEpoch(connection)).isPresent();
      writing.commit();
      assertThat(taking.get()).isTrue();
      assertThat(isActive(node, connection)).isFalse();
    }
  }

  private static boolean isActive(PostgresNode node, Connection connection) throws SQLException {
    return Jdbc.list(connection, "SELECT " + node.activeCondition(), row -> row.getBoolean(1))
        .getFirst();
  }

  private CompletableFuture<Boolean> takeOverInBackground() throws SQLException {
    try (var connection = database.connect()) {
      var other = register(connection);
      var seen = active(other.beat(connection)).orElseThrow();
      return TestPostgres.inBackground(
          () -> {
            try (var own = database.connect()) {
              return other.takeOver(own, seen);
            }
          });
    }
  }

  @Test
  void a_server_that_was_replaced_reports_a_context_as_deleted_that_its_successor_erased() {
    try (var first = TestPostgres.open(url)) {
      first.create(CONTEXT, created());
      for (var i = 0; i < 20; i++) {
        append(first, CONTEXT, "m" + i);
      }
      try (var second = TestPostgres.open(url)) {
        second.delete(CONTEXT);
        assertThatThrownBy(() -> events(first)).isInstanceOf(Rejection.Gone.class);
      }
    }
  }

  @Test
  void a_lost_connection_loses_nothing() throws SQLException {
    try (var log = TestPostgres.open(url);
        var connection = database.connect()) {
      log.create(CONTEXT, created());
      for (var i = 0; i < 20; i++) {
        endOtherConnections(connection);
        appendUntilAccepted(log, "m" + i);
      }
      assertThat(events(log)).doesNotHaveDuplicates().hasSize(21);
    }
    try (var again = TestPostgres.open(url)) {
      assertThat(events(again)).doesNotHaveDuplicates().hasSize(21);
    }
  }

  @Test
  void a_server_that_gives_up_its_role_does_not_wait_for_the_database() throws Exception {
    var used = database.abandonable();
    try (var waiting = used.connect();
        var idle = used.connect();
        var other = database.connect()) {
      var pid = Jdbc.number(waiting, "SELECT pg_backend_pid()");
      var query =
          ManualTime.start("query", () -> Jdbc.number(waiting, "SELECT 1 FROM pg_sleep(600)"));
      while (Jdbc.number(
              other,
              "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = " + pid)
          == 0) {
        Thread.onSpinWait();
      }

      used.abandon();

      assertThatThrownBy(query::get).hasCauseInstanceOf(SQLException.class);
      assertThat(idle.isClosed()).isTrue();
      assertThatThrownBy(used::connect)
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("given up");
      assertThat(other.isClosed()).isFalse();
    }
  }

  private static void endOtherConnections(Connection connection) throws SQLException {
    Jdbc.execute(
        connection,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
  }

  /// A rejected append was not written, so it may be repeated: the key makes sure.
  private static void appendUntilAccepted(EventLog log, String text) {
    var key = new AppendGuard.IdempotencyKey("local", text, text);
    while (true) {
      try {
        log.append(CONTEXT, key, Decision.always(message(text)));
        return;
      } catch (Rejection.Unavailable again) {
        Thread.onSpinWait();
      }
    }
  }

  private static PostgresNode register(Connection connection) throws SQLException {
    return PostgresNode.register(connection, new NodeInfo("http://127.0.0.1:1", "test"));
  }

  private static Optional<NodeRow> active(List<NodeRow> nodes) {
    return nodes.stream().filter(node -> node.role() == NodeRole.ACTIVE).findFirst();
  }

  private PostgresStore store(PostgresNode node) {
    return new PostgresStore(database, node, SqliteLogTest.SMALL, LogEncryption.none());
  }

  private static LogCommit commit(long id) {
    return new LogCommit(id, List.of(), List.of(), List.of());
  }

  private static LogCommit deleting(long id) {
    return new LogCommit(id, List.of(), List.of(), List.of(0L));
  }

  @Test
  void nodes_that_are_dead_for_a_day_are_forgotten() throws SQLException {
    var old = TestPostgres.activate(database);
    var recent = TestPostgres.activate(database);
    var active = TestPostgres.activate(database);
    try (var connection = database.connect()) {
      Jdbc.update(
          connection,
          "UPDATE beats SET at = at - interval '25 hours' WHERE node IN (?, ?)",
          old.id(),
          active.id());

      var latest = register(connection);

      for (var query :
          List.of("SELECT id FROM nodes ORDER BY 1", "SELECT node FROM beats ORDER BY 1")) {
        assertThat(Jdbc.list(connection, query, row -> row.getLong(1)))
            .containsExactly(recent.id(), active.id(), latest.id());
      }
      assertThat(old.beat(connection)).extracting(NodeRow::id).doesNotContain(old.id());
      assertThat(isActive(old, connection)).isFalse();
    }
    assertThatThrownBy(() -> store(old).openWriter()).isInstanceOf(FencedException.class);
  }

  private static void append(EventLog log, ContextId context, String text) {
    log.append(context, AppendGuard.none(), Decision.always(message(text)));
  }

  private static List<Event> events(EventLog log) {
    return log.read(CONTEXT, Position.START, 100).stream().map(Entry::event).toList();
  }
}
