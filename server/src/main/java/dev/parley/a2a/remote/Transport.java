package dev.parley.a2a.remote;

import dev.parley.protocol.WireName;

/// How requests travel.
public enum Transport implements WireName {
  JSONRPC("JSONRPC"),
  REST("HTTP+JSON");

  private final String binding;

  Transport(String binding) {
    this.binding = binding;
  }

  /// What agent cards call it.
  String binding() {
    return binding;
  }
}
