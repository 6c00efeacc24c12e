package dev.parley.door.agents;

import dev.parley.protocol.Entry;
import tools.jackson.databind.node.ObjectNode;

/// Some messages that are put into one answer. For one thread.
interface MessagePage {

  /// True if the message of this entry fits in.
  boolean takes(Entry entry);

  /// Puts in the message of this entry.
  void add(Entry entry, ObjectNode message);

  /// About how many bytes it has.
  int size();

  /// All of them, as an array. Nothing is put in after this.
  byte[] json();
}
