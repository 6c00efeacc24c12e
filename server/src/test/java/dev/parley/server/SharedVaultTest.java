package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.PostgresDatabase;
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
}
