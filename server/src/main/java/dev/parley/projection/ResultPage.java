package dev.parley.projection;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Some items of a list, and the cursor for the next page, if there is one.
public record ResultPage<T>(List<T> items, @Nullable String nextCursor) {
  public ResultPage {
    items = List.copyOf(items);
  }
}
