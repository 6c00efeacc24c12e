package dev.parley.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How a program is started: its words, what it is told on its input, and whether that stays open.
///
/// `config`, if given, is for a file that only it may read; [#CONFIG] in a word stands for its path.
record Launch(List<String> words, String input, boolean talks, @Nullable String config) {

  static final String CONFIG = "{parley-private-file}";

  Launch {
    words = List.copyOf(words);
  }

  Launch(List<String> words, String input, boolean talks) {
    this(words, input, talks, null);
  }

  /// The words, where that file is known.
  List<String> words(@Nullable PrivateFile file) {
    return file == null
        ? words
        : words.stream().map(word -> word.replace(CONFIG, file.path().toString())).toList();
  }
}
