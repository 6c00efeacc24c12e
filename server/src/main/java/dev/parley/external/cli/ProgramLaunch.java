package dev.parley.external.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How to start a program: the words of the command, its first input, and whether the input stays
/// open.
///
/// `config`, if given, is written to a file that only this user can read; [#CONFIG] in a word is
/// replaced by its path.
record ProgramLaunch(
    List<String> words, String input, boolean keepsInputOpen, @Nullable String config) {

  static final String CONFIG = "{parley-private-file}";

  ProgramLaunch {
    words = List.copyOf(words);
  }

  ProgramLaunch(List<String> words, String input, boolean keepsInputOpen) {
    this(words, input, keepsInputOpen, null);
  }

  /// The words, with the path of that file.
  List<String> words(@Nullable PrivateTempFile file) {
    return file == null
        ? words
        : words.stream().map(word -> word.replace(CONFIG, file.path().toString())).toList();
  }
}
