package dev.parley.external.cli;

import java.util.List;

/// Parses the output of one run of a program, line by line.
///
/// A parser has no side effects and never throws, whatever a line contains. It is for one run and
/// one thread.
public interface LineParser {

  /// The events of a line, in order. Empty if the line contains nothing of interest.
  List<ProgramEvent> read(String line);

  /// The events of a call that was denied; empty if the program reports it itself.
  default List<ProgramEvent> denied(ProgramEvent.PermissionAsked permissionAsked, String reason) {
    return List.of();
  }

  /// The remaining events after the last line.
  List<ProgramEvent> end();
}
