package dev.parley.http;

import dev.parley.tool.process.ClientProcessCheck.TcpConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// The header by which one server of a cluster tells another for which client it has opened a
/// connection. It is signed with the secret of the cluster.
///
/// It does not authenticate the client, whose token is forwarded unchanged. It tells the other
/// server where the client is, which that server uses to limit logins and to recognize the child
/// processes of agents.
public final class ForwardedClient {

  static final String HEADER = "Parley-Forwarded";

  private static final String ALGORITHM = "HmacSHA256";
  private static final String VERSION = "1";
  private static final int FIELDS = 7;

  /// The last field, if the client uses TLS.
  private static final String TLS = "tls";

  private final SecretKeySpec secret;
  private final String machine;

  /// `machine` identifies the network of this machine, so that both servers know whether they have
  /// the same loopback addresses.
  public ForwardedClient(String secret, String machine) {
    this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    this.machine = machine;
  }

  /// Identifies the network of this machine, or of its network namespace. `fallback` is used on a
  /// system that does not tell.
  public static String thisMachine(String fallback) {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip()
          + Files.readSymbolicLink(Path.of("/proc/self/ns/net"));
    } catch (IOException notLinux) {
      return fallback;
    }
  }

  /// A client's connection to another server, and whether it uses TLS.
  record ForwardedConnection(TcpConnection connection, boolean encrypted) {}

  /// The value of the header for a client's connection to this server.
  String sign(TcpConnection connection, boolean encrypted) {
    var remote = connection.remote();
    var local = connection.local();
    var text =
        String.join(
            ";",
            VERSION,
            remote.getAddress().getHostAddress(),
            Integer.toString(remote.getPort()),
            local.getAddress().getHostAddress(),
            Integer.toString(local.getPort()),
            machine,
            ofThisMachine(remote.getAddress()) ? "own" : "other");
    var whole = encrypted ? text + ";" + TLS : text;
    return whole + ";" + signature(whole);
  }

  private static boolean ofThisMachine(InetAddress address) {
    try {
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException unknown) {
      return false;
    }
  }

  /// The connection of the client; empty if the header is not signed with the secret of the cluster.
  Optional<ForwardedConnection> verify(String header) {
    var end = header.lastIndexOf(';');
    if (end < 0) {
      return Optional.empty();
    }
    var text = header.substring(0, end);
    var expected = signature(text).getBytes(StandardCharsets.US_ASCII);
    var fields = text.split(";", -1);
    if (!MessageDigest.isEqual(
            expected, header.substring(end + 1).getBytes(StandardCharsets.ISO_8859_1))
        || !(fields.length == FIELDS || (fields.length == FIELDS + 1 && fields[FIELDS].equals(TLS)))
        || !fields[0].equals(VERSION)) {
      return Optional.empty();
    }
    // A client on another machine than this one, which runs no agents of this server.
    var elsewhere = fields[6].equals("own") && !fields[5].equals(machine);
    return Optional.of(
        new ForwardedConnection(
            new TcpConnection(
                address(fields[1], fields[2]), address(fields[3], fields[4]), elsewhere),
            fields.length > FIELDS));
  }

  private static InetSocketAddress address(String host, String port) {
    try {
      // A literal, so nothing is looked up.
      return new InetSocketAddress(InetAddress.getByName(host), Integer.parseInt(port));
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private String signature(String text) {
    try {
      var mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException(missing);
    }
  }
}
