package dev.parley.view;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Some items of a list, and the cursor to ask for the next ones with, if there are more.
public record Page<T>(List<T> items, @Nullable String nextCursor) {
  public Page {
    items = List.copyOf(items);
  }
}
