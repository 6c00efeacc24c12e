package dev.parley.a2a.remote;

import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.proxy.Remote;
import dev.parley.tool.Credentials;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// HTTP connection to a remote agent: adds headers and credentials, and limits the size of
/// responses. For many threads.
final class Line {

  private static final String AUTHORIZATION = "Authorization";

  /// A complete response.
  record Answer(int status, HttpHeaders headers, String text) {

    Optional<String> header(String name) {
      return headers.firstValue(name);
    }

    /// @throws Trouble if the response is not JSON
    JsonNode json() throws Trouble {
      try {
        return Json.mapper().readTree(text);
      } catch (JacksonException malformed) {
        throw status >= 400
            ? Trouble.status(status, null, shortened(text))
            : Trouble.unusable("it sent a response that is not JSON: " + shortened(text));
      }
    }
  }

  private static final int SHOWN_MAX = 300;

  private final RemoteSettings settings;
  private final Remote http;
  private final Credentials credentials;

  Line(RemoteSettings settings, Remote http, Credentials credentials) {
    this.settings = settings;
    this.http = http;
    this.credentials = credentials;
  }

  /// Sends a request for `owner` and reads the whole response.
  Answer whole(HttpRequest.Builder request, String owner, int max)
      throws Trouble, InterruptedException {
    return read(send(request, owner, settings.timeout()), max, settings.timeout());
  }

  /// Sends a request for `owner`; the caller closes the response.
  HttpResponse<InputStream> send(HttpRequest.Builder request, String owner, Duration patience)
      throws Trouble, InterruptedException {
    var plain = request.build();
    if (!settings.covers(plain.uri())) {
      throw new IllegalArgumentException("not for this agent: " + plain.uri());
    }
    settings.headers().forEach(request::setHeader);
    if (settings.headers().keySet().stream().noneMatch(AUTHORIZATION::equalsIgnoreCase)) {
      var key = credentials.bearer(owner, settings.host()).orElse(null);
      if (key != null && !settings.confidential()) {
        throw Trouble.unsafe(
            "the user's key for it would be sent over unencrypted http: configure an https"
                + " address, or remove the key");
      }
      if (key != null) {
        request.setHeader(AUTHORIZATION, "Bearer " + key);
      }
    }
    try {
      return http.send(request.build(), patience);
    } catch (IOException failed) {
      throw unsent(failed.getCause())
          ? Trouble.unreachable(String.valueOf(failed.getMessage()))
          : Trouble.lost(ErrorCode.INTERNAL, "the connection broke: " + failed.getMessage());
    } catch (TimeoutException silent) {
      throw Trouble.lost(
          ErrorCode.TIMEOUT, "it did not answer within " + patience.toMillis() + " ms");
    }
  }

  private static boolean unsent(@Nullable Throwable cause) {
    return cause instanceof ConnectException
        || cause instanceof HttpConnectTimeoutException
        || cause instanceof UnknownHostException
        || cause instanceof UnresolvedAddressException;
  }

  /// Reads the rest of a response, for at most `patience`.
  static Answer read(HttpResponse<InputStream> response, int max, Duration patience)
      throws Trouble {
    try {
      var bytes = Remote.read(response, max + 1, patience);
      if (bytes.length > max) {
        throw Trouble.tooLarge("it answered with more than " + max + " bytes");
      }
      return new Answer(
          response.statusCode(), response.headers(), new String(bytes, StandardCharsets.UTF_8));
    } catch (IOException broken) {
      throw Trouble.lost(ErrorCode.INTERNAL, "the connection broke: " + broken.getMessage());
    } catch (TimeoutException stuck) {
      throw Trouble.lost(
          ErrorCode.TIMEOUT,
          "it started to answer, but did not finish within " + patience.toMillis() + " ms");
    }
  }

  static String shortened(String text) {
    return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
  }
}
