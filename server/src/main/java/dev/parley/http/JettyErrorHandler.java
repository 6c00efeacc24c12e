package dev.parley.http;

import dev.parley.protocol.Json;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// Writes errors that Jetty itself detects (a malformed request line, too large headers) as problem
/// documents.
final class JettyErrorHandler extends ErrorHandler {

  private final ErrorFormats forms;

  JettyErrorHandler(ErrorFormats forms) {
    this.forms = forms;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    var cause = request.getAttribute(ERROR_EXCEPTION);
    var status = cause instanceof HttpException http ? http.getCode() : response.getStatus();
    var problem =
        cause instanceof HttpException http && String.valueOf(http.getReason()).contains("URI")
            ? Problem.of(400, "invalid-uri", "the URI is not well formed")
            : problem(status);
    response.setStatus(problem.status());
    var form = forms.of(path(request));
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, form.contentType());
    response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
    response.write(true, ByteBuffer.wrap(Json.bytes(form.body().apply(problem))), callback);
    return true;
  }

  private static @Nullable String path(Request request) {
    var unreadable =
        JettyConnectionFactory.unreadable(request.getConnectionMetaData().getConnection());
    var uri = request.getHttpURI();
    return unreadable != null || uri == null ? unreadable : uri.getPath();
  }

  private static Problem problem(int status) {
    return switch (status) {
      case 408 -> Problem.of(408, "request-timeout", "the request did not arrive in time");
      case 413 -> Problem.of(413, "body-too-large", "the body is too large");
      case 414 -> Problem.of(414, "uri-too-long", "the URI is too long");
      case 417 -> Problem.of(417, "expectation-failed", "the expectation cannot be met");
      case 431 -> Problem.of(431, "headers-too-large", "the headers are too large");
      default ->
          status >= 400 && status < 500
              ? Problem.of(status, "bad-request", "this is not a well-formed HTTP request")
              : Problem.of(500, "internal", "the server failed to answer");
    };
  }
}
