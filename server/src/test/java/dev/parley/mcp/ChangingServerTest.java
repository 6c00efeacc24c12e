package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.McpDependencies.McpTimeouts;
import dev.parley.mcp.McpDependencies.McpTokenProvider;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Tests that tools are found when they change without a notification.
class ChangingServerTest {

  private static final McpTimeouts CURIOUS =
      new McpTimeouts(
          McpTestServers.TIMEOUTS.connect(),
          McpTestServers.TIMEOUTS.retryFirst(),
          McpTestServers.TIMEOUTS.retryMax(),
          McpTestServers.TIMEOUTS.shutdown(),
          McpTestServers.TIMEOUTS.healthyAfter(),
          Duration.ZERO);

  @Test
  void what_a_server_offers_once_all_is_agreed_is_there_from_the_first() throws Exception {
    try (var there = new ChangingServer();
        var servers = McpTestServers.start(there.server())) {

      assertThat(names(servers)).containsExactly("changing_in-time");
    }
  }

  @Test
  void what_changed_unheard_is_found_when_the_list_is_old() throws Exception {
    try (var there = new ChangingServer();
        var servers =
            new McpServers(
                    List.of(there.server()), McpTestServers.parts(McpTokenProvider.NONE, CURIOUS))
                .start()) {
      assertThat(names(servers)).containsExactly("changing_in-time");

      there.offers("other");

      // The first caller still gets the old list, while the new one is fetched.
      while (!names(servers).equals(List.of("changing_other"))) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void a_list_that_is_not_old_is_not_asked_for_again() throws Exception {
    try (var there = new ChangingServer();
        var servers = McpTestServers.start(there.server())) {
      assertThat(names(servers)).containsExactly("changing_in-time");

      there.offers("other");

      for (var times = 0; times < 100; times++) {
        assertThat(names(servers)).containsExactly("changing_in-time");
      }
      assertThat(there.lists()).isOne();
    }
  }

  private static List<String> names(McpServers servers) throws Exception {
    return McpTestServers.names(McpTestServers.tools(servers, "mcp:changing", "local"));
  }
}
