package dev.parley.mcp;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Names for tools that models take: up to 64 letters, digits, `_` and `-`, no two the same.
final class Names {

  private static final int MAX = 64;
  private static final int HASH_MAX = 6;

  private Names() {}

  /// Whose tool it is, and which.
  record Place(String server, String tool) {
    String plain() {
      return (server + "_" + tool).replaceAll("[^A-Za-z0-9_-]", "_");
    }

    /// What tells it from all others, whatever they are called.
    String hashed() {
      var plain = plain();
      var start = plain.substring(0, Math.min(plain.length(), MAX - HASH_MAX - 1));
      return start + "_" + hash(server + "/" + tool);
    }
  }

  /// A name for each, in their order; none is among `taken`. A name does not depend on the order.
  static List<String> of(List<Place> places, Set<String> taken) {
    var counts =
        places.stream()
            .map(Place::plain)
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    return places.stream()
        .map(
            place -> {
              var plain = place.plain();
              var good =
                  plain.length() <= MAX
                      && !taken.contains(plain)
                      && counts.getOrDefault(plain, 0L) == 1;
              return good ? plain : place.hashed();
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
