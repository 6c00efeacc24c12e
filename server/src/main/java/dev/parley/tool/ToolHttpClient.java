package dev.parley.tool;

import dev.parley.net.AddressPolicy;
import dev.parley.net.AddressPolicy.AddressRejected;
import dev.parley.net.AddressPolicy.CheckedTarget;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Executes one request of a tool, and follows redirects of requests that change nothing.
///
/// Every hop is checked before it is made. The address of a name could change between the check and
/// the connection. With `http` this has no effect: the client uses the checked address as a proxy,
/// and servers must accept such requests (RFC 9112, 3.2.2). With `https` the client resolves the
/// name in the same process, whose DNS cache still contains the checked address unless it has
/// expired; and then the server at the other address would need a certificate for the name before
/// it receives any data.
///
/// Safe for use by many threads.
final class ToolHttpClient {

  private static final int REDIRECTS_MAX = 5;
  private static final int BODY_MAX = 256 * 1024;
  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
  private static final Duration TIME_MAX = Duration.ofSeconds(30);
  private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD");
  private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

  /// The headers that are sent to another host. Any other header may be a secret.
  private static final Set<String> HARMLESS = Set.of("accept", "accept-language", "user-agent");

  /// The request, and its owner.
  record ToolHttpCall(
      String method, String url, Map<String, String> headers, @Nullable String body, String owner) {
    ToolHttpCall {
      var sorted = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
      sorted.putAll(headers);
      headers = sorted;
    }
  }

  /// The response, its source, and the credential that was sent.
  record ToolHttpAnswer(
      CheckedTarget target,
      HttpResponse<LimitedBody.BodyBytes> response,
      Optional<String> credential) {}

  private final AddressPolicy policy;
  private final Credentials credentials;
  private final Duration timeMax;

  ToolHttpClient(AddressPolicy policy, Credentials credentials) {
    this(policy, credentials, TIME_MAX);
  }

  ToolHttpClient(AddressPolicy policy, Credentials credentials, Duration timeMax) {
    this.policy = policy;
    this.credentials = credentials;
    this.timeMax = timeMax;
  }

  /// Executes the call.
  ///
  /// @throws Refused if the call is not allowed or failed, with a reason for the model
  ToolHttpAnswer execute(ToolHttpCall toolHttpCall) throws AddressRejected, InterruptedException {
    var end = System.nanoTime() + timeMax.toNanos();
    var checkedTarget = policy.check(toolHttpCall.url());
    var headers = toolHttpCall.headers();
    for (var hop = 0; hop <= REDIRECTS_MAX; hop++) {
      var toolHttpAnswer = send(toolHttpCall, checkedTarget, headers, end);
      var next = next(toolHttpCall, toolHttpAnswer);
      if (next.isEmpty()) {
        return toolHttpAnswer;
      }
      if (checkedTarget.secure() && !next.get().secure()) {
        throw new AddressRejected("the server redirects from https to http, which is not followed");
      }
      if (!checkedTarget.sameOrigin(next.get())) {
        headers = new TreeMap<>(headers);
        headers.keySet().removeIf(name -> !HARMLESS.contains(name.toLowerCase(Locale.ROOT)));
      }
      checkedTarget = next.get();
    }
    throw new AddressRejected("the server sent more than " + REDIRECTS_MAX + " redirects");
  }

  /// The target of a redirect. A request that changes something is not redirected; the model gets
  /// the location instead.
  private Optional<CheckedTarget> next(ToolHttpCall toolHttpCall, ToolHttpAnswer toolHttpAnswer)
      throws AddressRejected {
    var location = toolHttpAnswer.response().headers().firstValue("location");
    if (location.isEmpty()
        || !REDIRECTS.contains(toolHttpAnswer.response().statusCode())
        || !SAFE_METHODS.contains(toolHttpCall.method())) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          policy.check(toolHttpAnswer.target().uri().resolve(location.get()).toString()));
    } catch (IllegalArgumentException malformed) {
      throw new AddressRejected("the server redirects to an invalid URL");
    } catch (AddressRejected addressRejected) {
      throw new AddressRejected("the server redirects, but " + addressRejected.getMessage());
    }
  }

  private ToolHttpAnswer send(
      ToolHttpCall toolHttpCall, CheckedTarget checkedTarget, Map<String, String> headers, long end)
      throws AddressRejected, InterruptedException {
    var credential = credential(toolHttpCall, checkedTarget, headers);
    var request = request(toolHttpCall, checkedTarget, headers, credential);
    try (var client = client(checkedTarget)) {
      try {
        var sent = client.sendAsync(request, _ -> new LimitedBody(BODY_MAX));
        var response = sent.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        return new ToolHttpAnswer(checkedTarget, response, credential);
      } catch (TimeoutException late) {
        throw new AddressRejected("the server did not answer within " + timeMax.toSeconds() + " s");
      } catch (ExecutionException failed) {
        throw new AddressRejected(reason(checkedTarget, failed.getCause()));
      } finally {
        // Cancels what is still running; close() alone would wait for it.
        client.shutdownNow();
      }
    }
  }

  /// The credential for exactly this host, and only over a connection that cannot be intercepted.
  private Optional<String> credential(
      ToolHttpCall toolHttpCall, CheckedTarget checkedTarget, Map<String, String> headers) {
    return (checkedTarget.secure() || checkedTarget.local())
            && !headers.containsKey("authorization")
        ? credentials.bearer(toolHttpCall.owner(), checkedTarget.service())
        : Optional.empty();
  }

  private static HttpRequest request(
      ToolHttpCall toolHttpCall,
      CheckedTarget checkedTarget,
      Map<String, String> headers,
      Optional<String> credential)
      throws AddressRejected {
    var publisher =
        toolHttpCall.body() == null
            ? BodyPublishers.noBody()
            : BodyPublishers.ofString(toolHttpCall.body());
    try {
      var request =
          HttpRequest.newBuilder(checkedTarget.uri()).method(toolHttpCall.method(), publisher);
      headers.forEach(request::setHeader);
      credential.ifPresent(token -> request.setHeader("Authorization", "Bearer " + token));
      return request.build();
    } catch (IllegalArgumentException wrong) {
      throw new AddressRejected("a header cannot be sent: " + wrong.getMessage());
    }
  }

  private static HttpClient client(CheckedTarget checkedTarget) {
    var client =
        HttpClient.newBuilder()
            .version(
                checkedTarget.secure() ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_MAX);
    var direct = checkedTarget.secure() || checkedTarget.named();
    return client
        .proxy(
            direct
                ? HttpClient.Builder.NO_PROXY
                : ProxySelector.of(
                    new InetSocketAddress(checkedTarget.address(), checkedTarget.port())))
        .build();
  }

  private static String reason(CheckedTarget checkedTarget, @Nullable Throwable failure) {
    return switch (failure) {
      case null -> "the request failed";
      case java.net.http.HttpConnectTimeoutException _ ->
          "no connection to " + checkedTarget.service();
      case java.net.ConnectException _ -> "no connection to " + checkedTarget.service();
      case javax.net.ssl.SSLException _ ->
          "no safe connection to " + checkedTarget.service() + ": its certificate is invalid";
      case IOException _ -> "the connection to " + checkedTarget.service() + " broke";
      default -> "the request failed";
    };
  }
}
