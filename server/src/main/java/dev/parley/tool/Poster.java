package dev.parley.tool;

import dev.parley.protocol.Rejection;
import java.io.IOException;
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
/// The host is looked up and checked before every post; the client then finds the answer that was
/// checked in the process's own cache of names. Redirects are not followed: nobody checked where they lead.
/// Safe for use by many threads.
public final class Poster implements AutoCloseable {

  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
  private static final Duration TIME_MAX = Duration.ofSeconds(20);
  private static final int ANSWER_MAX = 64 * 1024;

  private final Reach reach;
  private final HttpClient client;

  /// `named` are hosts, as `host` or `host:port`, that may be private.
  ///
  /// @param anywhere true if all private hosts may be posted to
  public Poster(Set<String> named, boolean anywhere) {
    this.reach =
        anywhere
            ? new Reach(named, java.net.InetAddress::getAllByName, _ -> true)
            : new Reach(named);
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_MAX)
            .proxy(HttpClient.Builder.NO_PROXY)
            .build();
  }

  /// Refuses a URL that must not be posted to. One whose host is not known now may be known later: it is looked up
  /// before every post.
  ///
  /// @throws Rejection.Invalid saying why
  public void check(String url) {
    try {
      var _ = reach.check(url);
    } catch (Reach.UnknownHost later) {
      // Each post fails until it is known, and is tried again.
    } catch (Reach.Refused refused) {
      throw new Rejection.Invalid("url-refused", String.valueOf(refused.getMessage()));
    }
  }

  /// Posts, and says with which status that was answered.
  ///
  /// @throws IOException if there was no answer, or the post must not be made any more
  public int post(String url, Map<String, String> headers, byte[] body)
      throws IOException, InterruptedException {
    var request = request(url, headers, body);
    CompletableFuture<Integer> sent =
        client
            .sendAsync(request, _ -> new LimitedBody(ANSWER_MAX))
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

  private HttpRequest request(String url, Map<String, String> headers, byte[] body)
      throws IOException {
    try {
      var target = reach.check(url);
      var request =
          HttpRequest.newBuilder(target.uri())
              .timeout(TIME_MAX)
              .POST(BodyPublishers.ofByteArray(body));
      headers.forEach(request::setHeader);
      return request.build();
    } catch (Reach.Refused | IllegalArgumentException refused) {
      throw new IOException(refused.getMessage(), refused);
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
    client.close();
  }
}
