package dev.parley.door.a2a.push;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.a2a.PushTarget;
import dev.parley.a2a.Version;
import dev.parley.door.a2a.push.Registration.State;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import dev.parley.vault.Seal;
import dev.parley.vault.Vault;
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
class PushStoreTest {

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
  private final Seal seal =
      Seal.of(Vault.inMemory(new Vault.Sources(() -> now, new SecureRandom())), "push");

  private PushStore open() {
    return PushStore.open(file(), seal, () -> now);
  }

  private Path file() {
    return folder.resolve("push.db");
  }

  private static Registration webhook(String id) {
    var target = new PushTarget(id, "t", "https://example.com/" + id, null, null, null, null);
    return new Registration(CONTEXT, TASK, target, Version.V1_0, Registration.START, State.OPEN, 0);
  }

  private static String cursor(PushStore store, String id) {
    return store.find(CONTEXT, TASK, id).orElseThrow().cursor();
  }

  @Test
  void a_sender_that_is_told_to_stop_late_does_not_bring_back_what_was_removed() {
    try (var store = open()) {
      var sending = store.put(webhook("w"));
      store.remove(CONTEXT, TASK, "w");

      store.advance(sending.at("17"));

      assertThat(store.all()).isEmpty();
    }
  }

  @Test
  void a_sender_that_is_told_to_stop_late_does_not_move_the_one_that_took_its_place() {
    try (var store = open()) {
      var earlier = store.put(webhook("w"));
      var later = store.put(webhook("w").at("5"));

      store.advance(earlier.at("17").ended(State.DONE));
      assertThat(cursor(store, "w")).isEqualTo("5");
      assertThat(store.all().getFirst().state()).isEqualTo(State.OPEN);

      store.advance(later.at("6"));
      assertThat(cursor(store, "w")).isEqualTo("6");
    }
  }

  @Test
  void the_one_that_took_its_place_is_another_also_after_a_restart() {
    Registration earlier;
    try (var store = open()) {
      earlier = store.put(webhook("w"));
    }
    try (var store = open()) {
      store.put(webhook("w").at("5"));
      store.advance(earlier.at("17"));

      assertThat(cursor(store, "w")).isEqualTo("5");
    }
  }

  @Test
  void those_that_ended_are_forgotten_after_their_time_and_others_never() {
    try (var store = open()) {
      var done = store.put(webhook("done"));
      var gone = store.put(webhook("given-up"));
      store.put(webhook("open"));
      store.advance(done.ended(State.DONE));
      now = now.plus(Duration.ofDays(20));
      store.advance(gone.ended(State.GIVEN_UP));
      now = now.plus(Duration.ofDays(11));

      store.forgetEnded(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).extracting(Registration::id).containsExactly("given-up", "open");

      now = now.plus(Duration.ofDays(20));
      store.forgetEnded(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).extracting(Registration::id).containsExactly("open");
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
    early(webhook("open"), webhook("done").ended(State.DONE));
    if (!step.isEmpty()) {
      execute(step);
    }

    try (var store = open()) {
      assertThat(store.all()).containsExactly(webhook("done").ended(State.DONE), webhook("open"));
      now = now.plus(Duration.ofDays(29));
      store.forgetEnded(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).hasSize(2);
      store.advance(webhook("open").at("17"));
      assertThat(cursor(store, "open")).isEqualTo("17");
      assertThat(store.put(webhook("new")).generation()).isEqualTo(1);
    }
    try (var store = open()) {
      now = now.plus(Duration.ofDays(2));
      store.forgetEnded(now.minus(Duration.ofDays(30)));
      assertThat(store.all()).extracting(Registration::id).containsExactly("new", "open");
    }
  }

  private void execute(String sql) throws SQLException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void early(Registration... some) throws SQLException {
    execute(EARLY);
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file());
        var insert =
            connection.prepareStatement("INSERT INTO targets VALUES ('c', 't', ?, ?, ?, ?, ?)")) {
      for (var one : some) {
        insert.setString(1, one.id());
        insert.setString(2, one.version().number());
        insert.setBytes(3, seal.close(Json.bytes(one.target())));
        insert.setString(4, one.cursor());
        insert.setString(5, one.state().name());
        insert.executeUpdate();
      }
    }
  }
}
