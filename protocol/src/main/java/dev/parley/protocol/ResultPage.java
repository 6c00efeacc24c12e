package dev.parley.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Some items of a list, and the cursor for the next page, if there is one.
public record ResultPage<T>(List<T> items, @Nullable String nextCursor) {
  public ResultPage {
    items = List.copyOf(items);
  }

  /// The first `limit` items of a list; `fetch` returns the page at a cursor.
  public static <T> List<T> collect(Function<@Nullable String, ResultPage<T>> fetch, int limit) {
    var all = new ArrayList<T>();
    @Nullable String cursor = null;
    do {
      var page = fetch.apply(cursor);
      all.addAll(page.items.subList(0, Math.min(page.items.size(), limit - all.size())));
      cursor = page.items.isEmpty() ? null : page.nextCursor;
    } while (cursor != null && all.size() < limit);
    return all;
  }
}
