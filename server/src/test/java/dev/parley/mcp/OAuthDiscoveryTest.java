package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.net.AddressPolicy;
import dev.parley.net.EndlessServer;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Tests the sign-in discovery with a server that does not cooperate.
@Timeout(60)
class OAuthDiscoveryTest {

  @Test
  void a_server_that_never_ends_its_answers_cannot_hold_the_caller() throws Exception {
    try (var endless = new EndlessServer();
        var oAuthDiscovery =
            new OAuthDiscovery(new AddressPolicy(Set.of()), Duration.ofMillis(50))) {
      var server = new McpServer.HttpEndpoint(URI.create(endless.url("/mcp")), Map.of());

      assertThatThrownBy(() -> oAuthDiscovery.find(server, BearerChallenge.NONE))
          .isInstanceOf(McpFailure.class)
          .hasMessageContaining("no metadata was found");
    }
  }
}
