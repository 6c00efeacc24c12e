package dev.parley.api.agents;

import dev.parley.protocol.Entry;
import tools.jackson.databind.node.ObjectNode;

/// A page of messages. For one thread.
interface MessagePage {

  /// True if the page has room for the message of this entry.
  boolean accepts(Entry entry);

  /// Adds the message of this entry.
  void add(Entry entry, ObjectNode message);

  /// The approximate size in bytes.
  int size();

  /// All messages as a JSON array. Nothing may be added after this.
  byte[] json();
}
