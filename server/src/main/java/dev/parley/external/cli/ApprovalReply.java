package dev.parley.external.cli;

import tools.jackson.databind.node.ObjectNode;

/// Encodes the decision on a request for permission in the format of the program.
public interface ApprovalReply {

  /// The line that allows the call, with these arguments.
  String allow(ObjectNode arguments);

  /// The line that denies the call, with the reason if the format supports one.
  String deny(String reason);

  /// True if the program accepts changed arguments.
  boolean acceptsEditedArguments();
}
