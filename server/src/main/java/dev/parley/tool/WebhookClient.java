package dev.parley.tool;

import dev.parley.net.AddressPolicy;
import dev.parley.net.AddressPolicy.AddressRejected;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;

/// Sends POST requests to addresses that callers choose: only to public ones, unless configured.
///
/// The host is resolved and checked before every request. Redirects are not followed, because their
/// targets are not checked. Safe for use by many threads.
public final class WebhookClient implements AutoCloseable {

  private static final Duration TIME_MAX = Duration.ofSeconds(20);
  private static final int ANSWER_MAX = 64 * 1024;

  private final AddressPolicy policy;
  private final OutgoingHttpClient http;

  /// Closes `http` when it is closed. `named` are hosts, as `host` or `host:port`, that may be
  /// private.
  ///
  /// @param anywhere true if all private hosts are allowed
  public WebhookClient(OutgoingHttpClient http, Set<String> named, boolean anywhere) {
    this(http, anywhere ? AddressPolicy.allowAll() : new AddressPolicy(named));
  }

  WebhookClient(OutgoingHttpClient http, AddressPolicy policy) {
    this.http = http;
    this.policy = policy;
  }

  /// Rejects a URL that is not allowed. An unknown host is accepted, because it may be known later:
  /// it is resolved before every request.
  ///
  /// @throws Rejection.Invalid with the reason
  public void check(String url) {
    try {
      var _ = policy.check(url);
    } catch (AddressPolicy.UnknownHost later) {
      // Each request fails until the host is known, and is retried.
    } catch (AddressRejected addressRejected) {
      throw new Rejection.Invalid(String.valueOf(addressRejected.getMessage()));
    }
  }

  /// Sends a POST request, and returns the status of the response.
  ///
  /// @throws IOException if there was no response, or the URL is no longer allowed
  public int post(String url, Map<String, String> headers, byte[] body)
      throws IOException, InterruptedException {
    try {
      var target = policy.check(url);
      var request = HttpRequest.newBuilder(target.uri()).POST(BodyPublishers.ofByteArray(body));
      headers.forEach(request::setHeader);
      return http.send(target, request.build(), ANSWER_MAX, TIME_MAX).status();
    } catch (AddressRejected | IllegalArgumentException refused) {
      throw new IOException(refused.getMessage(), refused);
    } catch (TimeoutException late) {
      throw new IOException("no answer within " + TIME_MAX.toSeconds() + " s", late);
    } catch (IOException failed) {
      throw new IOException("the post failed: " + failed, failed);
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
