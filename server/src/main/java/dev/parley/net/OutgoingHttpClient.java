package dev.parley.net;

import dev.parley.net.AddressPolicy.CheckedTarget;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Sends all HTTP requests of the server to other servers. For many threads.
///
/// The deadline of a request includes its whole response, or the start of a response that is read
/// as a stream. Redirects are never followed here: they could send a secret to another host.
///
/// HTTP/1.1 is the default, because the upgrade header confuses some local servers, and because
/// closing the connection then cancels one response. A request can ask for another version.
///
/// There are two kinds of address. The operator chose those in the configuration: requests to them
/// use the proxy of the JVM, if there is one. The others come from a model, a caller or another
/// server: a request to them needs a [CheckedTarget] and uses no proxy. The address of a name could
/// change between the check and the connection. With `http` this has no effect: the client uses the
/// checked address as a proxy; the server then sees the whole URL in the request line, which it
/// must accept (RFC 9112, 3.2.2). With `https` the client resolves the name from the DNS cache of
/// the process, which contains the checked address unless it has expired; and then the server at
/// the other address would need a certificate for the name before it receives any data.
public final class OutgoingHttpClient implements AutoCloseable {

  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);

  /// A response with its body, or the beginning of it if it is not `whole`.
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and never changed.
  public record BoundedResponse(int status, HttpHeaders headers, byte[] body, boolean whole) {}

  private final Time time;
  private final Executor executor;
  // Created on first use, because each starts a thread. The monitor guards these fields.
  private @Nullable HttpClient configured;
  private @Nullable HttpClient direct;
  private boolean closed;

  public OutgoingHttpClient(Time time, Threads threads) {
    this.time = time;
    this.executor = Executors.newThreadPerTaskExecutor(threads.factory("http-client-"));
  }

  /// Sends a request to an address of the configuration, and reads the response.
  ///
  /// @throws TimeoutException if the response is not complete within `patience`
  /// @throws ResponseTooLargeException if the body has more than `bytesMax` bytes
  public BoundedResponse send(HttpRequest request, int bytesMax, Duration patience)
      throws IOException, TimeoutException, InterruptedException {
    var response = read(configured(), request, bytesMax, patience);
    if (!response.whole()) {
      throw new ResponseTooLargeException("a response", bytesMax);
    }
    return response;
  }

  /// Sends a request to an address of the configuration. Returns when the response starts; the
  /// caller closes it.
  ///
  /// @throws TimeoutException if the response does not start within `patience`
  public ResponseStream open(HttpRequest request, Duration patience)
      throws IOException, TimeoutException, InterruptedException {
    return open(configured(), request, time.deadline(patience));
  }

  /// Sends a request to a checked address, and reads the response up to `bytesMax`.
  ///
  /// @throws TimeoutException if that takes longer than `patience`
  public BoundedResponse send(
      CheckedTarget target, HttpRequest request, int bytesMax, Duration patience)
      throws IOException, TimeoutException, InterruptedException {
    if (target.canConnectDirectly()) {
      return read(direct(), request, bytesMax, patience);
    }
    var checked = new InetSocketAddress(target.address(), target.port());
    try (var pinned = create(ProxySelector.of(checked))) {
      try {
        return read(pinned, request, bytesMax, patience);
      } finally {
        // Cancels what is still running; close() alone would wait for it.
        pinned.shutdownNow();
      }
    }
  }

  private BoundedResponse read(
      HttpClient client, HttpRequest request, int bytesMax, Duration patience)
      throws IOException, TimeoutException, InterruptedException {
    var deadline = time.deadline(patience);
    try (var response = open(client, request, deadline)) {
      var body = response.read(bytesMax, deadline);
      return new BoundedResponse(
          response.status(), response.headers(), body, response.atEnd(deadline));
    }
  }

  private ResponseStream open(HttpClient client, HttpRequest request, long deadline)
      throws IOException, TimeoutException, InterruptedException {
    // Not HttpRequest.timeout: newer JDKs include the whole body, and a long response is not late.
    var sent = client.sendAsync(request, info -> new ResponseStream(info, time).subscriber());
    var done = new Object();
    var _ =
        sent.whenComplete(
            (_, _) -> {
              synchronized (done) {
                done.notifyAll();
              }
            });
    try {
      synchronized (done) {
        while (!sent.isDone()) {
          if (time.remaining(deadline) <= 0) {
            throw new TimeoutException("the response did not start in time");
          }
          time.waitUntil(done, deadline);
        }
      }
      return sent.get().body();
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof IOException known
          ? known
          : new IOException(failed.getCause());
    } catch (TimeoutException | InterruptedException given) {
      sent.cancel(true);
      // The response may have started just before the timeout.
      var _ = sent.thenAccept(late -> late.body().close());
      throw given;
    }
  }

  private synchronized HttpClient configured() throws IOException {
    checkOpen();
    if (configured == null) {
      configured = create(null);
    }
    return configured;
  }

  private synchronized HttpClient direct() throws IOException {
    checkOpen();
    if (direct == null) {
      direct = create(HttpClient.Builder.NO_PROXY);
    }
    return direct;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException("the server is stopping");
    }
  }

  private HttpClient create(@Nullable ProxySelector proxy) {
    var client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_MAX)
            .executor(executor);
    return proxy == null ? client.build() : client.proxy(proxy).build();
  }

  /// Cancels all requests.
  @Override
  public synchronized void close() {
    closed = true;
    if (configured != null) {
      configured.shutdownNow();
    }
    if (direct != null) {
      direct.shutdownNow();
    }
  }
}
