package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRole;
import dev.parley.log.TestPostgres;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/// The vault of a cluster.
final class SharedVaultTest {

  private final PostgresDatabase database = TestPostgres.database(TestPostgres.createDatabase());

  @Test
  void a_vault_that_is_too_large_does_not_count_as_missing() throws IOException {
    var vault = new SharedVault(database, TestPostgres.activate(database));
    assertThat(vault.read(3)).isEmpty();

    vault.write(new byte[] {1, 2, 3});
    assertThat(vault.read(3)).contains(new byte[] {1, 2, 3});

    vault.write(new byte[] {1, 2, 3, 4});
    assertThatThrownBy(() -> vault.read(3))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("too large to be a vault");
  }

  @Test
  void a_write_that_meets_a_takeover_waits_for_it_and_is_rejected() throws Exception {
    var node = TestPostgres.activate(database);
    var vault = new SharedVault(database, node);
    vault.write(new byte[] {1});
    try (var taking = database.connect();
        var observer = database.connect()) {
      var other = PostgresNode.register(observer, new NodeInfo("http://127.0.0.1:1", "test"));
      var active =
          other.beat(observer).stream().filter(row -> row.role() == NodeRole.ACTIVE).findFirst();
      TestPostgres.beginLong(taking);
      assertThat(PostgresNode.declareDead(taking, active.orElseThrow())).isTrue();

      var writing =
          TestPostgres.inBackground(
              () -> {
                vault.write(new byte[] {2});
                return true;
              });
      TestPostgres.awaitLockOrEnd(observer, writing);
      taking.commit();

      assertThatThrownBy(writing::get)
          .hasCauseInstanceOf(IOException.class)
          .hasMessageContaining("not the active one");
      assertThat(vault.read(3)).contains(new byte[] {1});
    }
  }
}
