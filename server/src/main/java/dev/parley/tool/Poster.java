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

/// Posts to addresses that callers chose: to public ones only, unless told otherwise.
///
/// The host is looked up and checked before every post. A name could mean another address by the time the client
/// looks it up. With `http` it never does: the client is told to use the address that was checked, as if it were a
/// proxy; a server then sees the whole URL in the request line, which it must accept (RFC 9112, 3.2.2). Hosts that
/// are addresses, that the operator named, or all of them where any may be posted to, are posted to as usual: another
/// meaning of their names would open nothing. With `https` the client looks the name up in the process's own cache,
/// which holds the answer that was checked unless it lapsed in between; and then the server at the other address
/// would need a certificate for the name before it is told anything. Redirects are not followed: nobody checked where
/// they lead. Safe for use by many threads.
public final class Poster implements AutoCloseable {

  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
  private static final Duration TIME_MAX = Duration.ofSeconds(20);
  private static final int ANSWER_MAX = 64 * 1024;

  private final AddressPolicy policy;
  private final boolean anywhere;
  private final HttpClient client;

  /// `named` are hosts, as `host` or `host:port`, that may be private.
  ///
  /// @param anywhere true if all private hosts may be posted to
  public Poster(Set<String> named, boolean anywhere) {
    this(anywhere ? AddressPolicy.anywhere() : new AddressPolicy(named), anywhere);
  }

  Poster(AddressPolicy policy, boolean anywhere) {
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

  /// Refuses a URL that must not be posted to. One whose host is not known now may be known later: it is looked up
  /// before every post.
  ///
  /// @throws Rejection.Invalid saying why
  public void check(String url) {
    try {
      var _ = policy.check(url);
    } catch (AddressPolicy.UnknownHost later) {
      // Each post fails until it is known, and is tried again.
    } catch (AddressPolicy.Refused refused) {
      throw new Rejection.Invalid(String.valueOf(refused.getMessage()));
    }
  }

  /// Posts, and says with which status that was answered.
  ///
  /// @throws IOException if there was no answer, or the post must not be made any more
  public int post(String url, Map<String, String> headers, byte[] body)
      throws IOException, InterruptedException {
    var target = target(url);
    var request = request(target, headers, body);
    if (direct(target)) {
      return send(client, request);
    }
    var checked = new InetSocketAddress(target.address(), target.port());
    try (var pinned = client(ProxySelector.of(checked))) {
      try {
        return send(pinned, request);
      } finally {
        // A client that is only closed waits for what goes on.
        pinned.shutdownNow();
      }
    }
  }

  private boolean direct(AddressPolicy.Target target) {
    var host = target.host();
    var literal = host.startsWith("[") || host.equals(target.address().getHostAddress());
    return target.secure() || target.named() || anywhere || literal;
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

  private AddressPolicy.Target target(String url) throws IOException {
    try {
      return policy.check(url);
    } catch (AddressPolicy.Refused refused) {
      throw new IOException(refused.getMessage(), refused);
    }
  }

  private static HttpRequest request(
      AddressPolicy.Target target, Map<String, String> headers, byte[] body) throws IOException {
    try {
      var request =
          HttpRequest.newBuilder(target.uri())
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
