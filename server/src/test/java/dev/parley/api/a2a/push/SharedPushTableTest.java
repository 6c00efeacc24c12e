package dev.parley.api.a2a.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.api.a2a.push.PushRegistration.PushState;
import dev.parley.auth.Vault;
import dev.parley.auth.VaultCipher;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.log.TestPostgres;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.runtime.ClockTime;
import dev.parley.runtime.SystemThreads;
import java.security.SecureRandom;
import java.time.Instant;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/// The webhooks of a cluster: a server that others have taken over from changes nothing.
final class SharedPushTableTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final TaskId TASK = new TaskId("t");
  private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

  private final PostgresDatabase database = TestPostgres.database(TestPostgres.createDatabase());
  private final VaultCipher vaultCipher =
      VaultCipher.of(Vault.inMemory(new Vault.VaultSources(() -> NOW, new SecureRandom())), "push");

  private PushConfigStore open(PostgresNode node) {
    return PushConfigStore.open(
        PushDatabase.shared(database, node),
        vaultCipher,
        new ClockTime(() -> NOW),
        new SystemThreads());
  }

  private static PushRegistration webhook(String id) {
    var target =
        new PushNotificationConfig(id, "t", "https://example.com/" + id, null, null, null, null);
    return new PushRegistration(
        CONTEXT, TASK, target, A2aVersion.V1_0, PushRegistration.START, PushState.OPEN, 0);
  }

  @Test
  void the_active_server_changes_webhooks() {
    try (var store = open(TestPostgres.activate(database))) {
      var stored = store.put(webhook("w"));
      store.saveProgress(stored.withCursor("17"));
      assertThat(store.all()).containsExactly(stored.withCursor("17"));

      store.put(webhook("w").withCursor("5"));
      store.saveProgress(stored.withCursor("18"));
      assertThat(store.all()).extracting(PushRegistration::cursor).containsExactly("5");

      assertThat(store.remove(CONTEXT, TASK, "other")).isFalse();
      assertThat(store.remove(CONTEXT, TASK, "w")).isTrue();
      assertThat(store.all()).isEmpty();
    }
  }

  @Test
  void a_server_that_others_have_taken_over_from_changes_no_webhooks() {
    try (var early = open(TestPostgres.activate(database))) {
      var stored = early.put(webhook("w"));
      try (var late = open(TestPostgres.activate(database))) {
        var current = stored.withCursor("17");
        late.saveProgress(current);

        assertRejected(() -> early.saveProgress(stored.withCursor("5")));
        assertRejected(() -> early.saveProgress(stored.withState(PushState.GIVEN_UP)));
        assertRejected(() -> early.put(webhook("new")));
        assertRejected(() -> early.put(webhook("w")));
        assertRejected(() -> early.remove(CONTEXT, TASK, "w"));
        assertRejected(() -> early.removeContext(CONTEXT));
        assertRejected(() -> early.removeEndedBefore(NOW));
        assertThat(late.all()).containsExactly(current);
      }
    }
  }

  private static void assertRejected(ThrowingCallable write) {
    assertThatThrownBy(write)
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("not the active one");
  }
}
