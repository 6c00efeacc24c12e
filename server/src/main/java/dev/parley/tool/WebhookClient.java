package dev.parley.tool;

import dev.parley.net.AddressPolicy;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Sends POST requests to addresses that callers choose: only to public ones, unless configured.
///
/// The host is resolved and checked before every request. The address of a name could change
/// between the check and the connection. With `http` this has no effect: the client uses the
/// checked address as a proxy; the server then sees the whole URL in the request line, which it
/// must accept (RFC 9112, 3.2.2). The client connects directly if the host is an address, if the
/// operator named it, or if all hosts are allowed: a changed name would give no further access.
/// With `https` the client resolves the name from the DNS cache of the process, which contains the
/// checked address unless it has expired; and then the server at the other address would need a
/// certificate for the name before it receives any data. Redirects are not followed, because their
/// targets are not checked. Safe for use by many threads.
public final class WebhookClient implements AutoCloseable {

  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
  private static final Duration TIME_MAX = Duration.ofSeconds(20);
  private static final int ANSWER_MAX = 64 * 1024;

  private final AddressPolicy policy;
  private final boolean anywhere;
  private final HttpClient client;

  /// `named` are hosts, as `host` or `host:port`, that may be private.
  ///
  /// @param anywhere true if all private hosts are allowed
  public WebhookClient(Set<String> named, boolean anywhere) {
    this(anywhere ? AddressPolicy.allowAll() : new AddressPolicy(named), anywhere);
  }

  WebhookClient(AddressPolicy policy, boolean anywhere) {
    this.policy = policy;
    this.anywhere = anywhere;
    this.client = client(HttpClient.Builder.NO_PROXY);
  }

  private static HttpClient client(ProxySelector proxy) {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER)
        .connectTimeout(CONNECT_MAX)
        .proxy(proxy)
        .build();
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
    } catch (AddressPolicy.AddressRejected addressRejected) {
      throw new Rejection.Invalid(String.valueOf(addressRejected.getMessage()));
    }
  }

  /// Sends a POST request, and returns the status of the response.
  ///
  /// @throws IOException if there was no response, or the URL is no longer allowed
  public int post(String url, Map<String, String> headers, byte[] body)
      throws IOException, InterruptedException {
    var checkedTarget = target(url);
    var request = request(checkedTarget, headers, body);
    if (direct(checkedTarget)) {
      return send(client, request);
    }
    var checked = new InetSocketAddress(checkedTarget.address(), checkedTarget.port());
    try (var pinned = client(ProxySelector.of(checked))) {
      try {
        return send(pinned, request);
      } finally {
        // Cancels what is still running; close() alone would wait for it.
        pinned.shutdownNow();
      }
    }
  }

  private boolean direct(AddressPolicy.CheckedTarget checkedTarget) {
    var host = checkedTarget.host();
    var literal = host.startsWith("[") || host.equals(checkedTarget.address().getHostAddress());
    return checkedTarget.secure() || checkedTarget.named() || anywhere || literal;
  }

  private static int send(HttpClient by, HttpRequest request)
      throws IOException, InterruptedException {
    CompletableFuture<Integer> sent =
        by.sendAsync(request, _ -> new LimitedBody(ANSWER_MAX))
            .thenApply(answer -> answer.statusCode());
    try {
      return sent.get(TIME_MAX.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new IOException("no answer within " + TIME_MAX.toSeconds() + " s", late);
    } catch (ExecutionException failed) {
      var cause = failed.getCause() == null ? failed : failed.getCause();
      throw new IOException("the post failed: " + cause, cause);
    } finally {
      sent.cancel(true);
    }
  }

  private AddressPolicy.CheckedTarget target(String url) throws IOException {
    try {
      return policy.check(url);
    } catch (AddressPolicy.AddressRejected addressRejected) {
      throw new IOException(addressRejected.getMessage(), addressRejected);
    }
  }

  private static HttpRequest request(
      AddressPolicy.CheckedTarget checkedTarget, Map<String, String> headers, byte[] body)
      throws IOException {
    try {
      var request =
          HttpRequest.newBuilder(checkedTarget.uri())
              .timeout(TIME_MAX)
              .POST(BodyPublishers.ofByteArray(body));
      headers.forEach(request::setHeader);
      return request.build();
    } catch (IllegalArgumentException refused) {
      throw new IOException(refused.getMessage(), refused);
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
    client.close();
  }
}
