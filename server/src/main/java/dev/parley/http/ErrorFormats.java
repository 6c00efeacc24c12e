package dev.parley.http;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds the error format for a path: the one with the longest prefix.
final class ErrorFormats {

  private final List<ErrorFormat> forms;

  ErrorFormats(List<ErrorFormat> forms) {
    var longestFirst = Comparator.comparingInt((ErrorFormat form) -> form.prefix().length());
    this.forms = forms.stream().sorted(longestFirst.reversed()).toList();
  }

  /// The format for a path, which is null if the request could not be parsed.
  ErrorFormat of(@Nullable String path) {
    return path == null
        ? ErrorFormat.DEFAULT
        : forms.stream().filter(form -> form.covers(path)).findFirst().orElse(ErrorFormat.DEFAULT);
  }
}
