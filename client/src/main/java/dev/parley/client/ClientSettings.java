package dev.parley.client;

import dev.parley.protocol.Rejection;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// The address of a server, and the client's timeouts and retries.
///
/// `requestTimeout` is the longest wait for the start of a reply. A stream that has to wait for the
/// server passes the reason to `notice`. `tls` is null for the certificates that the Java runtime
/// trusts.
public record ClientSettings(
    URI url,
    @Nullable String token,
    Duration connectTimeout,
    Duration requestTimeout,
    Reconnect reconnect,
    Consumer<String> notice,
    @Nullable SSLContext tls) {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);

  public ClientSettings {
    var scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
    if (!(scheme.equals("http") || scheme.equals("https")) || url.getHost() == null) {
      throw new Rejection.Invalid(
          "invalid-url", "a server's address looks like http://127.0.0.1:7070, not " + url);
    }
    if (url.getRawQuery() != null || url.getRawFragment() != null || url.getUserInfo() != null) {
      throw new Rejection.Invalid(
          "invalid-url", "a server's address has no user, query or fragment: " + url);
    }
  }

  /// Settings that trust the certificates that the Java runtime trusts.
  public ClientSettings(
      URI url,
      @Nullable String token,
      Duration connectTimeout,
      Duration requestTimeout,
      Reconnect reconnect,
      Consumer<String> notice) {
    this(url, token, connectTimeout, requestTimeout, reconnect, notice, null);
  }

  /// The default settings for the server at `url`.
  public static ClientSettings of(URI url) {
    return new ClientSettings(
        url, null, CONNECT_TIMEOUT, REQUEST_TIMEOUT, Reconnect.DEFAULT, _ -> {}, null);
  }

  /// The same, but with a token.
  public ClientSettings withToken(@Nullable String newToken) {
    return new ClientSettings(
        url, newToken, connectTimeout, requestTimeout, reconnect, notice, tls);
  }

  /// The same, but with other retries.
  public ClientSettings withReconnect(Reconnect newReconnect) {
    return new ClientSettings(
        url, token, connectTimeout, requestTimeout, newReconnect, notice, tls);
  }

  /// The same, but with a callback. It gets the reason when a stream has to wait for the server,
  /// once per outage.
  public ClientSettings withNotice(Consumer<String> newNotice) {
    return new ClientSettings(
        url, token, connectTimeout, requestTimeout, reconnect, newNotice, tls);
  }

  /// The same, but with another decision about which certificates to trust.
  public ClientSettings withTls(SSLContext newTls) {
    return new ClientSettings(
        url, token, connectTimeout, requestTimeout, reconnect, notice, newTls);
  }

  @Override
  public String toString() {
    return "ClientSettings[" + url + (token == null ? "" : ", with a token") + "]";
  }
}
