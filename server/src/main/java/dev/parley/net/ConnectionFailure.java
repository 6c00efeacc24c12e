package dev.parley.net;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/// Describes in words why a connection failed. The exceptions of the JDK often have no message.
public final class ConnectionFailure {

  private ConnectionFailure() {}

  /// Returns the reason. The most specific exception among the causes decides.
  public static String describe(Throwable failure) {
    var reason = text(failure);
    for (var at = failure; at != null; at = at.getCause()) {
      var found = known(at);
      reason = found == null ? reason : found;
    }
    return reason;
  }

  private static @Nullable String known(Throwable failure) {
    return switch (failure) {
      case UnknownHostException _ -> "its host name is unknown";
      case UnresolvedAddressException _ -> "its host name is unknown";
      case HttpConnectTimeoutException _ -> "the connection took too long";
      case ConnectException _ -> "the connection was refused";
      case SSLHandshakeException _ -> "the TLS connection failed: " + text(failure);
      default -> null;
    };
  }

  private static String text(Throwable failure) {
    return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
  }
}
