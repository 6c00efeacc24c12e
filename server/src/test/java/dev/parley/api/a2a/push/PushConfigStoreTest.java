package dev.parley.api.a2a.push;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.api.a2a.push.PushRegistration.PushState;
import dev.parley.auth.Vault;
import dev.parley.auth.VaultCipher;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import dev.parley.runtime.ClockTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The store of webhooks: concurrent changes, expiry, and files of earlier versions.
class PushConfigStoreTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final TaskId TASK = new TaskId("t");
  private static final String GENERATION =
      "ALTER TABLE targets ADD COLUMN generation INTEGER NOT NULL DEFAULT 0";

  /// The schema of the first version.
  private static final String EARLY =
      """
      CREATE TABLE targets (
        context TEXT NOT NULL, task TEXT NOT NULL, id TEXT NOT NULL, version TEXT NOT NULL,
        sealed BLOB NOT NULL, cursor TEXT NOT NULL, state TEXT NOT NULL,
        PRIMARY KEY (context, task, id)) WITHOUT ROWID
      """;

  @TempDir Path folder;
  private Instant now = Instant.parse("2030-01-01T00:00:00Z");
  private final VaultCipher vaultCipher =
      VaultCipher.of(Vault.inMemory(new Vault.VaultSources(() -> now, new SecureRandom())), "push");

  private PushConfigStore open() {
    var time = new ClockTime(() -> now);
    return PushConfigStore.open(
        PushDatabase.file(file(), time), vaultCipher, time, new SystemThreads());
  }

  private Path file() {
    return folder.resolve("push.db");
  }

  private static PushRegistration webhook(String id) {
    var target =
        new PushNotificationConfig(id, "t", "https://example.com/" + id, null, null, null, null);
    return new PushRegistration(
        CONTEXT, TASK, target, A2aVersion.V1_0, PushRegistration.START, PushState.OPEN, 0);
  }

  private static String cursor(PushConfigStore store, String id) {
    return store.find(CONTEXT, TASK, id).orElseThrow().cursor();
  }

  @Test
  void a_sender_that_is_told_to_stop_late_does_not_bring_back_what_was_removed() {
    try (var store = open()) {
      var sending = store.put(webhook("w"));
      store.remove(CONTEXT, TASK, "w");

      store.saveProgress(sending.withCursor("17"));

      assertThat(store.all()).isEmpty();
    }
  }

  @Test
  void a_sender_that_is_told_to_stop_late_does_not_move_the_one_that_took_its_place() {
    try (var store = open()) {
      var earlier = store.put(webhook("w"));
      var later = store.put(webhook("w").withCursor("5"));

      store.saveProgress(earlier.withCursor("17").withState(PushState.DONE));
      assertThat(cursor(store, "w")).isEqualTo("5");
      assertThat(store.all().getFirst().state()).isEqualTo(PushState.OPEN);

      store.saveProgress(later.withCursor("6"));
      assertThat(cursor(store, "w")).isEqualTo("6");
    }
  }

  @Test
  void the_one_that_took_its_place_is_another_also_after_a_restart() {
    PushRegistration earlier;
    try (var store = open()) {
      earlier = store.put(webhook("w"));
    }
    try (var store = open()) {
      store.put(webhook("w").withCursor("5"));
      store.saveProgress(earlier.withCursor("17"));

      assertThat(cursor(store, "w")).isEqualTo("5");
    }
  }

  @Test
  void those_that_ended_are_forgotten_after_their_time_and_others_never() {
    try (var store = open()) {
      var done = store.put(webhook("done"));
      var gone = store.put(webhook("given-up"));
      store.put(webhook("open"));
      store.saveProgress(done.withState(PushState.DONE));
      now = now.plus(Duration.ofDays(20));
      store.saveProgress(gone.withState(PushState.GIVEN_UP));
      now = now.plus(Duration.ofDays(11));

      store.removeEndedBefore(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).extracting(PushRegistration::id).containsExactly("given-up", "open");

      now = now.plus(Duration.ofDays(20));
      store.removeEndedBefore(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).extracting(PushRegistration::id).containsExactly("open");
    }
  }

  @Test
  void an_empty_file_is_a_store_without_webhooks() throws IOException {
    Files.createFile(file());

    try (var store = open()) {
      assertThat(store.all()).isEmpty();
      store.put(webhook("w"));
    }
    try (var store = open()) {
      assertThat(store.all()).hasSize(1);
    }
  }

  /// With GENERATION: a server stopped between the two steps of the migration.
  @ParameterizedTest
  @ValueSource(strings = {"", GENERATION})
  void what_an_earlier_version_kept_is_kept_and_counts_as_changed_now(String step)
      throws SQLException {
    early(webhook("open"), webhook("done").withState(PushState.DONE));
    if (!step.isEmpty()) {
      execute(step);
    }

    try (var store = open()) {
      assertThat(store.all())
          .containsExactly(webhook("done").withState(PushState.DONE), webhook("open"));
      now = now.plus(Duration.ofDays(29));
      store.removeEndedBefore(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).hasSize(2);
      store.saveProgress(webhook("open").withCursor("17"));
      assertThat(cursor(store, "open")).isEqualTo("17");
      assertThat(store.put(webhook("new")).generation()).isEqualTo(1);
    }
    try (var store = open()) {
      now = now.plus(Duration.ofDays(2));
      store.removeEndedBefore(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).extracting(PushRegistration::id).containsExactly("new", "open");
    }
  }

  private void execute(String sql) throws SQLException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void early(PushRegistration... some) throws SQLException {
    execute(EARLY);
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        var insert =
            connection.prepareStatement("INSERT INTO targets VALUES ('c', 't', ?, ?, ?, ?, ?)")) {
      for (var one : some) {
        insert.setString(1, one.id());
        insert.setString(2, one.version().number());
        insert.setBytes(3, vaultCipher.encrypt(Json.bytes(one.target())));
        insert.setString(4, one.cursor());
        insert.setString(5, one.state().name());
        insert.executeUpdate();
      }
    }
  }
}
