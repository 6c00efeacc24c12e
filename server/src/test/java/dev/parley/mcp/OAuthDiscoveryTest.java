package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mcp.OAuthDiscovery.BearerChallenge;
import dev.parley.net.AddressPolicy;
import dev.parley.net.EndlessServer;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.net.URI;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Tests the sign-in discovery with a server that does not cooperate.
@Timeout(60)
class OAuthDiscoveryTest {

  @Test
  void a_server_that_never_ends_its_answers_cannot_hold_the_caller() throws Exception {
    var time = new ManualTime();
    try (var endless = new EndlessServer();
        var http = new OutgoingHttpClient(time, new SystemThreads())) {
      var oAuthDiscovery = new OAuthDiscovery(http, new AddressPolicy(Set.of()));
      var requests = 5;
      new SystemThreads()
          .start(
              "clock",
              () -> {
                for (var i = 0; i < requests; i++) {
                  time.advanceToWait("");
                }
              });
      var server = new McpServer.HttpEndpoint(URI.create(endless.url("/mcp")), Map.of());

      assertThatThrownBy(() -> oAuthDiscovery.find(server, BearerChallenge.NONE))
          .isInstanceOf(McpFailure.class)
          .hasMessageContaining("no metadata was found");
    }
  }
}
