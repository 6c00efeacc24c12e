package dev.parley.net;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/// An HTTP server that starts each response and never ends it.
public final class EndlessServer implements AutoCloseable {

  private final HttpServer http;
  private final CountDownLatch end = new CountDownLatch(1);

  public EndlessServer() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          try {
            end.await();
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        });
    http.start();
  }

  public String url(String path) {
    return "http://127.0.0.1:" + http.getAddress().getPort() + path;
  }

  @Override
  public void close() {
    end.countDown();
    http.stop(0);
  }
}
