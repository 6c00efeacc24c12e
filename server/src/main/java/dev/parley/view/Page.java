package dev.parley.view;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Some items of a list, and the cursor for the next page, if there is one.
public record Page<T>(List<T> items, @Nullable String nextCursor) {
  public Page {
    items = List.copyOf(items);
  }
}
