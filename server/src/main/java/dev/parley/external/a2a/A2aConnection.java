package dev.parley.external.a2a;

import dev.parley.net.ConnectionFailure;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.net.ResponseStream;
import dev.parley.net.ResponseTooLargeException;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.tool.Credentials;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// HTTP connection to a remote agent: adds headers and credentials, and limits the size of
/// responses. For many threads.
final class A2aConnection {

  private static final String AUTHORIZATION = "Authorization";

  /// A complete response.
  record A2aHttpResponse(int status, HttpHeaders headers, String text) {

    Optional<String> header(String name) {
      return headers.firstValue(name);
    }

    /// @throws Trouble if the response is not JSON
    JsonNode json() throws A2aFailure {
      try {
        return Json.mapper().readTree(text);
      } catch (JacksonException malformed) {
        throw status >= 400
            ? A2aFailure.status(status, null, shortened(text))
            : A2aFailure.unusable("it sent a response that is not JSON: " + shortened(text));
      }
    }
  }

  private static final int SHOWN_MAX = 300;

  private final A2aRemoteSettings settings;
  private final OutgoingHttpClient http;
  private final Credentials credentials;

  A2aConnection(A2aRemoteSettings settings, OutgoingHttpClient http, Credentials credentials) {
    this.settings = settings;
    this.http = http;
    this.credentials = credentials;
  }

  /// Sends a request for `owner` and reads the whole response.
  A2aHttpResponse sendAndRead(HttpRequest.Builder request, String owner, int max)
      throws A2aFailure, InterruptedException {
    return read(send(request, owner, settings.timeout()), max, settings.timeout());
  }

  /// Sends a request for `owner`; the caller closes the response.
  ResponseStream send(HttpRequest.Builder request, String owner, Duration patience)
      throws A2aFailure, InterruptedException {
    var plain = request.build();
    if (!settings.hasSameOrigin(plain.uri())) {
      throw new IllegalArgumentException("not for this agent: " + plain.uri());
    }
    settings.headers().forEach(request::setHeader);
    if (settings.headers().keySet().stream().noneMatch(AUTHORIZATION::equalsIgnoreCase)) {
      var key = credentials.bearer(owner, settings.host()).orElse(null);
      if (key != null && !settings.confidential()) {
        throw A2aFailure.unsafe(
            "the user's key for it would be sent over unencrypted http: configure an https"
                + " address, or remove the key");
      }
      if (key != null) {
        request.setHeader(AUTHORIZATION, "Bearer " + key);
      }
    }
    try {
      return http.open(request.build(), patience);
    } catch (IOException failed) {
      var why = ConnectionFailure.describe(failed);
      throw isUnsent(failed)
          ? A2aFailure.unreachable(why)
          : A2aFailure.lost(ErrorCode.INTERNAL, "the connection broke: " + why);
    } catch (TimeoutException silent) {
      throw A2aFailure.lost(
          ErrorCode.TIMEOUT, "it did not answer within " + patience.toMillis() + " ms");
    }
  }

  private static boolean isUnsent(IOException cause) {
    return cause instanceof ConnectException
        || cause instanceof HttpConnectTimeoutException
        || cause instanceof UnknownHostException
        || cause.getCause() instanceof UnresolvedAddressException;
  }

  /// Reads the rest of a response, for at most `patience`.
  static A2aHttpResponse read(ResponseStream response, int max, Duration patience)
      throws A2aFailure, InterruptedException {
    try (response) {
      var bytes = response.readAll(max, patience);
      return new A2aHttpResponse(
          response.status(), response.headers(), new String(bytes, StandardCharsets.UTF_8));
    } catch (ResponseTooLargeException large) {
      throw A2aFailure.tooLarge("it answered with more than " + max + " bytes");
    } catch (IOException broken) {
      throw A2aFailure.lost(ErrorCode.INTERNAL, "the connection broke: " + broken.getMessage());
    } catch (TimeoutException stuck) {
      throw A2aFailure.lost(
          ErrorCode.TIMEOUT,
          "it started to answer, but did not finish within " + patience.toMillis() + " ms");
    }
  }

  static String shortened(String text) {
    return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
  }
}
