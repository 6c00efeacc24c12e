package dev.parley.tool.process;

import dev.parley.protocol.WireName;
import java.util.Locale;

/// How the processes that the server starts are separated from the rest of the machine.
public enum IsolationLevel implements WireName {
  /// Not at all: they can do what the user of the server can.
  NONE("none: programs can do what the user of the server can"),
  /// By Linux namespaces that `unshare` creates and a script sets up.
  UNSHARE("unshare: own files, processes and network"),
  /// By Linux namespaces that bubblewrap sets up.
  BUBBLEWRAP("bubblewrap: own files, processes and network");

  private final String title;

  IsolationLevel(String title) {
    this.title = title;
  }

  /// The level in a few words, for people.
  public String title() {
    return title;
  }

  @Override
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
