package dev.parley.server;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToIntFunction;

/// Suggests names for a mistyped one.
public final class NameSuggestions {

  private static final int FOUND_MAX = 2;
  private static final int BEGINNING_MIN = 3;

  private NameSuggestions() {}

  /// Returns the names that differ from `typed` in few letters or begin with it, most similar first.
  /// Upper and lower case are the same.
  public static List<String> to(String typed, Collection<String> names) {
    var wanted = typed.toLowerCase(Locale.ROOT);
    ToIntFunction<String> distance = name -> distance(wanted, name.toLowerCase(Locale.ROOT));
    return names.stream()
        .filter(
            name ->
                distance.applyAsInt(name) <= Math.max(1, name.length() / 3)
                    || begins(wanted, name.toLowerCase(Locale.ROOT)))
        .sorted(Comparator.comparingInt(distance).thenComparing(Comparator.naturalOrder()))
        .limit(FOUND_MAX)
        .toList();
  }

  private static boolean begins(String typed, String name) {
    return typed.length() >= BEGINNING_MIN && name.startsWith(typed);
  }

  /// Returns how many letters must be added, removed, changed or swapped with the next one.
  static int distance(String a, String b) {
    var costs = new int[a.length() + 1][b.length() + 1];
    for (var i = 0; i <= a.length(); i++) {
      for (var j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          costs[i][j] = i + j;
          continue;
        }
        var same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        var cost = Math.min(costs[i - 1][j], costs[i][j - 1]) + 1;
        cost = Math.min(cost, costs[i - 1][j - 1] + same);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          cost = Math.min(cost, costs[i - 2][j - 2] + 1);
        }
        costs[i][j] = cost;
      }
    }
    return costs[a.length()][b.length()];
  }
}
