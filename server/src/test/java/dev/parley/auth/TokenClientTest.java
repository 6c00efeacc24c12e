package dev.parley.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.auth.Credential.RegisteredClient;
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

/// Token endpoints that misbehave.
@Timeout(60)
class TokenClientTest {

  @Test
  void an_endpoint_that_never_ends_its_answer_counts_as_unreachable() throws Exception {
    try (var endless = new EndlessServer()) {
      var policy = new AddressPolicy(Set.of()).allowing(URI.create(endless.url("/")));
      var time = new ManualTime();
      try (var http = new OutgoingHttpClient(time, new SystemThreads())) {
        var client = new TokenClient(http, policy);
        new SystemThreads().start("clock", () -> time.advanceToWait(""));
        var tokenReply =
            client.token(
                endless.url("/token"), new RegisteredClient("parley", null, false), Map.of());

        assertThat(tokenReply).isInstanceOf(TokenClient.TokenReply.EndpointUnreachable.class);
      }
    }
  }
}
