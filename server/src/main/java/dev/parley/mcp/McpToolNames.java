package dev.parley.mcp;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Creates tool names that models accept: up to 64 letters, digits, `_` and `-`, all different.
final class McpToolNames {

  private static final int MAX = 64;
  private static final int HASH_MAX = 6;

  private McpToolNames() {}

  /// The server and the name of a tool.
  record ToolOrigin(String server, String tool) {
    String plain() {
      return (server + "_" + tool).replaceAll("[^A-Za-z0-9_-]", "_");
    }

    /// A name that differs from all others.
    String hashed() {
      var plain = plain();
      var start = plain.substring(0, Math.min(plain.length(), MAX - HASH_MAX - 1));
      return start + "_" + hash(server + "/" + tool);
    }
  }

  /// A name for each tool, in this order; none is in `taken`. The names do not depend on the order.
  static List<String> of(List<ToolOrigin> places, Set<String> taken) {
    var counts =
        places.stream()
            .map(ToolOrigin::plain)
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    return places.stream()
        .map(
            toolOrigin -> {
              var plain = toolOrigin.plain();
              var good =
                  plain.length() <= MAX
                      && !taken.contains(plain)
                      && counts.getOrDefault(plain, 0L) == 1;
              return good ? plain : toolOrigin.hashed();
            })
        .toList();
  }

  private static String hash(String text) {
    try {
      var bytes =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(bytes).substring(0, HASH_MAX);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
