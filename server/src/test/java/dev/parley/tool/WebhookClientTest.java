package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.net.AddressPolicy;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/// Tests that requests go to the checked address, even if the name has another address by then.
class WebhookClientTest {

  @Test
  void connectsToTheAddressThatWasChecked() throws Exception {
    var loopback = InetAddress.getLoopbackAddress();
    var server = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
    var hosts = new LinkedBlockingQueue<String>();
    server.createContext(
        "/hook",
        exchange -> {
          hosts.add(exchange.getRequestHeaders().getFirst("Host"));
          exchange.sendResponseHeaders(202, -1);
          exchange.close();
        });
    server.start();
    // Only the resolver of the policy knows the name: no other resolver finds the server.
    var reach = new AddressPolicy(Set.of(), _ -> new InetAddress[] {loopback}, _ -> true);
    var threads = new SystemThreads();
    try (var http = new OutgoingHttpClient(new SystemTime(threads), threads)) {
      var webhookClient = new WebhookClient(http, reach);
      var host = "hook.invalid:" + server.getAddress().getPort();
      var status = webhookClient.post("http://" + host + "/hook", Map.of(), new byte[] {'1'});
      assertThat(status).isEqualTo(202);
      assertThat(hosts).containsExactly(host);
    } finally {
      server.stop(0);
    }
  }
}
