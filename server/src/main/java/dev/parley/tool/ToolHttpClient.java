package dev.parley.tool;

import dev.parley.net.AddressPolicy;
import dev.parley.net.AddressPolicy.AddressRejected;
import dev.parley.net.AddressPolicy.CheckedTarget;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.net.OutgoingHttpClient.BoundedResponse;
import dev.parley.protocol.Json;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Executes one request of a tool, and follows redirects of requests that change nothing.
///
/// Every hop is checked before it is made. Safe for use by many threads.
final class ToolHttpClient {

  private static final int REDIRECTS_MAX = 5;
  private static final int BODY_MAX = 256 * 1024;
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
      CheckedTarget target, BoundedResponse response, Optional<String> credential) {}

  private final OutgoingHttpClient http;
  private final Time time;
  private final AddressPolicy policy;
  private final Credentials credentials;

  ToolHttpClient(
      OutgoingHttpClient http, Time time, AddressPolicy policy, Credentials credentials) {
    this.http = http;
    this.time = time;
    this.policy = policy;
    this.credentials = credentials;
  }

  /// Executes the call.
  ///
  /// @throws AddressRejected if the call is not allowed or failed, with a reason for the model
  ToolHttpAnswer execute(ToolHttpCall toolHttpCall) throws AddressRejected, InterruptedException {
    var end = time.deadline(TIME_MAX);
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
        || !REDIRECTS.contains(toolHttpAnswer.response().status())
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
    try {
      var left = Duration.ofNanos(time.remaining(end));
      return new ToolHttpAnswer(
          checkedTarget, http.send(checkedTarget, request, BODY_MAX, left), credential);
    } catch (TimeoutException late) {
      throw new AddressRejected("the server did not answer within " + TIME_MAX.toSeconds() + " s");
    } catch (IOException failed) {
      throw new AddressRejected(reason(checkedTarget, failed));
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
      if (checkedTarget.secure()) {
        request.version(HttpClient.Version.HTTP_2);
      }
      headers.forEach(request::setHeader);
      credential.ifPresent(token -> request.setHeader("Authorization", "Bearer " + token));
      return request.build();
    } catch (IllegalArgumentException wrong) {
      throw new AddressRejected("a header cannot be sent: " + wrong.getMessage());
    }
  }

  private static String reason(CheckedTarget checkedTarget, IOException failure) {
    return switch (failure) {
      case HttpConnectTimeoutException _ -> "no connection to " + checkedTarget.service();
      case ConnectException _ -> "no connection to " + checkedTarget.service();
      case SSLException _ ->
          "no safe connection to " + checkedTarget.service() + ": its certificate is invalid";
      default -> "the connection to " + checkedTarget.service() + " broke";
    };
  }

  /// Converts an HTTP response to a tool result for the model.
  static final class HttpToolResult {

    private static final int SHOWN_MAX = 20_000;
    private static final Pattern CHARSET =
        Pattern.compile("charset\\s*=\\s*\"?([\\w.:-]+)", Pattern.CASE_INSENSITIVE);
    private static final Pattern TEXT =
        Pattern.compile(
            "text/.*|application/(?:.*[+])?(?:json|xml|javascript|yaml).*|application/x-www-form.*");

    private HttpToolResult() {}

    static ToolResult of(ToolHttpClient.ToolHttpAnswer toolHttpAnswer) {
      var response = toolHttpAnswer.response();
      var type = response.headers().firstValue("content-type").orElse("");
      var result =
          Json.object()
              .put("status", response.status())
              .put("url", toolHttpAnswer.target().uri().toString());
      if (!type.isEmpty()) {
        result.put("contentType", type);
      }
      response.headers().firstValue("location").ifPresent(to -> result.put("location", to));
      var bytes = response.body();
      if (isText(type, bytes)) {
        putText(
            result,
            hidden(new String(bytes, charset(type, bytes)), toolHttpAnswer.credential()),
            toolHttpAnswer);
      } else {
        var size = response.whole() ? bytes.length + " bytes" : "too large to be shown";
        result.put("body", "[not text: " + size + "]");
      }
      return new ToolResult.Done(result);
    }

    private static void putText(
        ObjectNode result, String text, ToolHttpClient.ToolHttpAnswer toolHttpAnswer) {
      var end = Math.min(text.length(), SHOWN_MAX);
      if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
        end--;
      }
      result.put("body", text.substring(0, end));
      if (end < text.length() || !toolHttpAnswer.response().whole()) {
        result.put("note", "There is more; these are the first " + end + " characters.");
      }
    }

    /// Removes the credential, because some servers send it back.
    private static String hidden(String text, Optional<String> credential) {
      return credential
          .filter(token -> !token.isEmpty())
          .map(t -> text.replace(t, "[credential]"))
          .orElse(text);
    }

    private static boolean isText(String type, byte[] bytes) {
      var lower = type.toLowerCase(Locale.ROOT);
      return !TextFile.binary(bytes)
          && (TEXT.matcher(lower).matches()
              || TextFile.charset(bytes).equals(StandardCharsets.UTF_8));
    }

    private static Charset charset(String type, byte[] bytes) {
      var named = CHARSET.matcher(type);
      try {
        return named.find() ? Charset.forName(named.group(1)) : TextFile.charset(bytes);
      } catch (IllegalArgumentException unknown) {
        return TextFile.charset(bytes);
      }
    }
  }
}
