package dev.parley.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How to start a program: the words of the command, its first input, and whether the input stays
/// open.
///
/// `config`, if given, is written to a file that only this user can read; [#CONFIG] in a word is
/// replaced by its path.
record Launch(List<String> words, String input, boolean talks, @Nullable String config) {

  static final String CONFIG = "{parley-private-file}";

  Launch {
    words = List.copyOf(words);
  }

  Launch(List<String> words, String input, boolean talks) {
    this(words, input, talks, null);
  }

  /// The words, with the path of that file.
  List<String> words(@Nullable PrivateFile file) {
    return file == null
        ? words
        : words.stream().map(word -> word.replace(CONFIG, file.path().toString())).toList();
  }
}
