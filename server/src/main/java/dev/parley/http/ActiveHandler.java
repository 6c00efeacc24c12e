package dev.parley.http;

import dev.parley.http.ServerLocation.Here;
import java.time.Duration;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Serves requests while this server is the active one of a cluster, and forwards them otherwise.
///
/// A process that was suspended serves the requests that arrived meanwhile before it learns that
/// another server has taken over. Its log is old: it would reject the positions of readers that know
/// more. So each request checks that the database has confirmed the role lately.
final class ActiveHandler extends RequestHandler {

  private final ServerLocation location;
  private final RequestHandler serving;
  private final RequestHandler forwarding;

  ActiveHandler(ServerLocation location, RequestHandler serving, RequestHandler forwarding) {
    this.location = location;
    this.serving = serving;
    this.forwarding = forwarding;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback)
      throws InterruptedException {
    return location.find(Duration.ZERO) instanceof Here
        ? serving.handle(request, response, callback)
        : forwarding.handle(request, response, callback);
  }
}
