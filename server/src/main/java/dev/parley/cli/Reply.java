package dev.parley.cli;

import tools.jackson.databind.node.ObjectNode;

/// How a program that has asked for permission is told what came of it, in its own words.
public interface Reply {

  /// The line that says that the call may be made, with these arguments.
  String allow(ObjectNode arguments);

  /// The line that says that the call may not be made, and why, if the program can be told that.
  String deny(String reason);

  /// True if the program can be told to make the call with other arguments.
  boolean edits();
}
