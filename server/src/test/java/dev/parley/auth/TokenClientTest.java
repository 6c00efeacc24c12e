package dev.parley.auth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.auth.Credential.RegisteredClient;
import dev.parley.net.AddressPolicy;
import dev.parley.net.EndlessServer;
import java.net.URI;
import java.time.Duration;
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
      try (var client = new TokenClient(policy, Duration.ofMillis(50))) {
        var tokenReply =
            client.token(
                endless.url("/token"), new RegisteredClient("parley", null, false), Map.of());

        assertThat(tokenReply).isInstanceOf(TokenClient.TokenReply.EndpointUnreachable.class);
      }
    }
  }
}
