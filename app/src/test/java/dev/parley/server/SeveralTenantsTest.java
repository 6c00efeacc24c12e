package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.identity.IdentityDatabase;
import dev.parley.server.ContainmentConfig.LevelChoice;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A server with several tenants isolates programs and asks after untrusted text, unless told not to.
class SeveralTenantsTest {

  private static final String TENANT = "{\"name\":\"acme\"}";

  @TempDir Path folder;

  @Test
  void a_tenant_is_refused_while_the_configuration_says_nothing_of_isolation() throws Exception {
    try (var server = TestServer.configured(folder, "")) {
      var refused = server.post("/api/tenants", TENANT);
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(refused.body()).contains("isolation-required").contains("isolation.level");
    }
    assertThat(identities().severalTenants()).isFalse();
  }

  @Test
  void once_there_are_tenants_the_defaults_of_a_start_are_strict() throws Exception {
    var stated = "isolation: {level: none}\nuntrusted: {effects: allow}\n";
    try (var server = TestServer.configured(folder, stated)) {
      assertThat(server.post("/api/tenants", TENANT).statusCode()).isEqualTo(201);
    }
    var unstated = ContainmentConfig.DEFAULT.with(identities().severalTenants());
    assertThat(unstated.chosen()).isEqualTo(LevelChoice.AUTO);
    assertThat(unstated.asksAfterUntrusted()).isTrue();
    assertThat(unstated.acceptsTenants()).isTrue();
    // At home, nothing changes.
    assertThat(ContainmentConfig.DEFAULT.chosen()).isEqualTo(LevelChoice.NONE);
    assertThat(ContainmentConfig.DEFAULT.asksAfterUntrusted()).isFalse();
  }

  private IdentityDatabase identities() {
    return IdentityDatabase.file(folder.resolve("data").resolve("identity.db"));
  }
}
