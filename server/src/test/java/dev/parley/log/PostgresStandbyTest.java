package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.LONG;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.parley.log.LogTransfer.Transferred;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Commits wait for a synchronous standby, and what it may lack is not visible.
final class PostgresStandbyTest {

  // A server of its own: the setting holds for all databases.
  private static EmbeddedPostgres server;
  // Its commits never wait.
  private static Connection administrator;
  private static int databases;

  @TempDir Path folder;
  private String name;
  private String url;

  @BeforeAll
  static void start() throws IOException, SQLException {
    server = EmbeddedPostgres.start();
    administrator = server.getPostgresDatabase().getConnection();
  }

  @AfterAll
  static void stop() throws IOException, SQLException {
    administrator.close();
    server.close();
  }

  @BeforeEach
  void createDatabase() throws SQLException {
    name = "test" + ++databases;
    Jdbc.execute(administrator, "CREATE DATABASE " + name);
    url = "postgresql://postgres@localhost:%d/%s".formatted(server.getPort(), name);
  }

  @Test
  void an_append_whose_wait_for_the_standby_was_canceled_is_not_visible() throws Exception {
    try (var log = TestPostgres.open(url)) {
      log.create(CONTEXT, created());
      loseStandby();
      var appending =
          TestPostgres.inBackground(
              () -> log.append(CONTEXT, AppendGuard.none(), Decision.always(message("one"))));

      var waiting = awaitWaiting(appending, 0);
      cancel(waiting);
      // The new connection of the writer. Its first commit tells whether the earlier ones are safe.
      waiting = awaitWaiting(appending, waiting);
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(1);
      cancel(waiting);
      awaitWaiting(appending, waiting);
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(1);

      findStandby();
      assertThat(log.await(CONTEXT, Position.of(1), LONG)).isTrue();
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(2);
    }
  }

  @Test
  void a_context_whose_wait_for_the_standby_was_canceled_is_not_visible() throws Exception {
    var late = new ContextId("late");
    try (var log = TestPostgres.open(url)) {
      log.create(CONTEXT, created());
      loseStandby();
      var creating = TestPostgres.inBackground(() -> log.create(late, created()));

      var waiting = awaitWaiting(creating, 0);
      cancel(waiting);
      awaitWaiting(creating, waiting);
      assertThatThrownBy(() -> log.read(late, Position.START, 10))
          .isInstanceOf(Rejection.NotFound.class);

      findStandby();
      creating.get();
      assertThat(log.read(late, Position.START, 10)).hasSize(1);
    }
  }

  @Test
  void an_import_that_lost_its_last_reply_is_complete_when_the_standby_has_it() throws Exception {
    LogTransferTest.fill(folder);
    var database = TestPostgres.database(url);
    loseStandby();
    var importing = importInBackground(database);

    var waiting = awaitWaiting(importing, 0);
    Jdbc.execute(administrator, "SELECT pg_terminate_backend(" + waiting + ")");
    awaitWaiting(importing, waiting);
    assertThat(importing).isNotDone();

    findStandby();
    assertThat(importing.get()).contains(1L);
    try (var log = TestPostgres.open(url)) {
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(2);
    }
  }

  @Test
  void an_import_whose_wait_for_the_standby_was_canceled_waits_again() throws Exception {
    LogTransferTest.fill(folder);
    var database = TestPostgres.database(url);
    loseStandby();
    var importing = importInBackground(database);

    var waiting = awaitWaiting(importing, 0);
    cancel(waiting);
    awaitWaiting(importing, waiting);
    findStandby();
    assertThat(importing.get()).contains(1L);
  }

  /// The number of copied contexts; empty if the import failed.
  private Future<Optional<Long>> importInBackground(PostgresDatabase database) {
    return TestPostgres.inBackground(() -> LogTransfer.toDatabase(folder, database, _ -> {}))
        .handle((copied, _) -> Optional.ofNullable(copied).map(Transferred::contexts));
  }

  /// From now on, all commits wait for a standby that does not exist.
  private void loseStandby() throws SQLException {
    setStandby("'missing'");
    // The setting has no effect yet for a short time.
    try (var probe = new PostgresDatabase(address()).connect()) {
      Jdbc.execute(probe, "SET synchronous_commit = local");
      Jdbc.execute(probe, "CREATE TABLE public.probes (id INTEGER)");
      Jdbc.execute(probe, "SET synchronous_commit = on");
      var pid = Jdbc.number(probe, "SELECT pg_backend_pid()");
      var probing = new ProbeLoop(probe);
      var done = TestPostgres.inBackground(Executors.callable(probing));
      while (!waiting().contains(pid)) {
        Thread.onSpinWait();
      }
      probing.ended = true;
      cancel(pid);
      while (!done.isDone()) {
        Thread.onSpinWait();
      }
    }
  }

  /// Commits until it is told to stop.
  private static final class ProbeLoop implements Runnable {
    private final Connection connection;
    private volatile boolean ended;

    ProbeLoop(Connection connection) {
      this.connection = connection;
    }

    @Override
    public void run() {
      try {
        while (!ended) {
          Jdbc.execute(connection, "INSERT INTO public.probes VALUES (1)");
        }
      } catch (SQLException failed) {
        throw new IllegalStateException(failed);
      }
    }
  }

  private void findStandby() throws SQLException {
    setStandby("''");
  }

  private void setStandby(String names) throws SQLException {
    Jdbc.execute(administrator, "ALTER SYSTEM SET synchronous_standby_names = " + names);
    Jdbc.execute(administrator, "SELECT pg_reload_conf()");
  }

  private PostgresAddress address() {
    return PostgresAddress.parse(url, Map.of());
  }

  private List<Long> waiting() throws SQLException {
    return Jdbc.list(
        administrator,
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = ?",
        row -> row.getLong(1),
        name);
  }

  /// Waits until a connection other than `before` waits for the standby.
  private long awaitWaiting(Future<?> work, long before) throws SQLException {
    while (work.state() != Future.State.SUCCESS) {
      for (var pid : waiting()) {
        if (pid != before) {
          return pid;
        }
      }
    }
    return fail("it succeeded although no standby has it");
  }

  private void cancel(long pid) throws SQLException {
    Jdbc.execute(administrator, "SELECT pg_cancel_backend(" + pid + ")");
  }
}
