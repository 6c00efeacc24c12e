package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.LONG;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Commits wait for a synchronous standby, and what it may lack is not visible.
final class PostgresStandbyTest {

  private EmbeddedPostgres server;
  private Connection administrator;
  private String url;

  @BeforeEach
  void start() throws IOException, SQLException {
    // A server of its own: the setting holds for all databases. Its own connections never wait.
    server = EmbeddedPostgres.start();
    administrator = server.getPostgresDatabase().getConnection();
    url = "postgresql://postgres@localhost:" + server.getPort() + "/postgres";
  }

  @AfterEach
  void stop() throws IOException, SQLException {
    administrator.close();
    server.close();
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

  /// From now on, all commits wait for a standby that does not exist.
  private void loseStandby() throws SQLException {
    setStandby("'missing'");
    Jdbc.execute(administrator, "CREATE TABLE probes (id INTEGER)");
    // The setting has no effect yet for a short time.
    try (var probe = new PostgresDatabase(address()).connect()) {
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
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
        row -> row.getLong(1));
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
