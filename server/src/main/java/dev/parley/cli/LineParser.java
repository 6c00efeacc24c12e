package dev.parley.cli;

import java.util.List;

/// Understands what one program prints in one run, line by line.
///
/// A parser touches nothing outside itself, never throws, whatever a line holds, and is for one run and
/// one thread.
public interface LineParser {

  /// What a line says, in order. Nothing if the line is of no interest to anybody.
  List<Said> read(String line);

  /// What is to be told of a call that was denied; nothing if the program itself will tell it.
  default List<Said> denied(Said.Asked asked, String reason) {
    return List.of();
  }

  /// What is left to say when there are no more lines.
  List<Said> end();
}
