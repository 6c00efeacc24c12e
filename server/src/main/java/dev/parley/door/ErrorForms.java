package dev.parley.door;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Finds the error format for a path: the one with the longest prefix.
final class ErrorForms {

  private final List<ErrorForm> forms;

  ErrorForms(List<ErrorForm> forms) {
    var longestFirst = Comparator.comparingInt((ErrorForm form) -> form.prefix().length());
    this.forms = forms.stream().sorted(longestFirst.reversed()).toList();
  }

  /// The format for a path, which is null if the request could not be parsed.
  ErrorForm of(@Nullable String path) {
    return path == null
        ? ErrorForm.USUAL
        : forms.stream().filter(form -> form.covers(path)).findFirst().orElse(ErrorForm.USUAL);
  }
}
