package dev.parley.a2a.remote;

import dev.parley.protocol.WireName;

/// The transport of requests.
public enum Transport implements WireName {
  JSONRPC("JSONRPC"),
  REST("HTTP+JSON");

  private final String binding;

  Transport(String binding) {
    this.binding = binding;
  }

  /// The name in agent cards.
  String binding() {
    return binding;
  }
}
