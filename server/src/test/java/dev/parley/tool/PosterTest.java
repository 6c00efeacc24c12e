package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.net.AddressPolicy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/// Posts go to the address that was checked, whatever the name means by then.
class PosterTest {

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
    // Only the one who checks knows the name: nobody else could find the server by it.
    var reach = new AddressPolicy(Set.of(), _ -> new InetAddress[] {loopback}, _ -> true);
    try (var poster = new Poster(reach, false)) {
      var host = "hook.invalid:" + server.getAddress().getPort();
      var status = poster.post("http://" + host + "/hook", Map.of(), new byte[] {'1'});
      assertThat(status).isEqualTo(202);
      assertThat(hosts).containsExactly(host);
    } finally {
      server.stop(0);
    }
  }
}
