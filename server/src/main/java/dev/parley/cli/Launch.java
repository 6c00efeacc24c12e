package dev.parley.cli;

import java.util.List;

/// How a program is started: its words, what it is told on its input, and whether that stays open.
record Launch(List<String> words, String input, boolean talks) {
  Launch {
    words = List.copyOf(words);
  }
}
