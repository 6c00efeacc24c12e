package dev.parley.tool.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;

/// The TCP sockets of this machine or network namespace: `/proc/net/tcp` and `/proc/net/tcp6`.
final class TcpTable {

  private static final Path PROC_NET = Path.of("/proc/net");
  private static final int FIELDS_MIN = 10;
  private static final int WORD = 4;

  /// A socket: its inode, as in `/proc/PID/fd`, and its user. `inode` is 0 when no process holds
  /// the socket.
  record TcpSocket(long inode, long uid) {}

  private TcpTable() {}

  /// True if the table can be read on this system.
  static boolean readable() {
    return Files.isReadable(PROC_NET.resolve("tcp"));
  }

  /// The socket with this local and remote address, if it belongs to this machine.
  ///
  /// @throws IOException if the table cannot be read
  static Optional<TcpSocket> find(InetSocketAddress local, InetSocketAddress remote)
      throws IOException {
    TcpSocket found = null;
    for (var name : new String[] {"tcp", "tcp6"}) {
      var file = PROC_NET.resolve(name);
      if (name.equals("tcp6") && !Files.exists(file)) {
        continue;
      }
      try (var lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
        lines.readLine();
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
          var fields = line.strip().split("\\s+", -1);
          if (fields.length >= FIELDS_MIN
              && same(fields[1], local)
              && same(fields[2], remote)
              && (found == null || found.inode() == 0)) {
            found = new TcpSocket(Long.parseLong(fields[9]), Long.parseLong(fields[7]));
          }
        }
      }
    }
    return Optional.ofNullable(found);
  }

  /// True if `text`, such as `0100007F:1B9E`, is this address.
  private static boolean same(String text, InetSocketAddress address) throws UnknownHostException {
    var colon = text.indexOf(':');
    return Integer.parseInt(text, colon + 1, text.length(), 16) == address.getPort()
        && ip(text.substring(0, colon)).equals(plain(address.getAddress()));
  }

  /// Parses an address of the table: words of four bytes, each in the byte order of this machine.
  ///
  /// Java converts an IPv4-mapped IPv6 address to an IPv4 address.
  static InetAddress ip(String hex) throws UnknownHostException {
    var bytes = HexFormat.of().parseHex(hex);
    var words = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    var network = ByteBuffer.allocate(bytes.length);
    for (var at = 0; at < bytes.length; at += WORD) {
      network.putInt(words.getInt(at));
    }
    return InetAddress.getByAddress(network.array());
  }

  /// The address without its scope id, which the table does not contain.
  private static InetAddress plain(InetAddress address) throws UnknownHostException {
    return InetAddress.getByAddress(address.getAddress());
  }
}
