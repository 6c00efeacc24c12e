package dev.parley.http;

import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// What a listener does with requests. Unlike other handlers of Jetty, it answers all failures
/// itself.
abstract class RequestHandler extends Handler.Abstract {

  @Override
  public abstract boolean handle(Request request, Response response, Callback callback)
      throws InterruptedException;
}
