package dev.parley.external.a2a;

import dev.parley.protocol.WireName;

/// The transport of requests.
public enum A2aTransport implements WireName {
  JSONRPC("JSONRPC"),
  REST("HTTP+JSON");

  private final String binding;

  A2aTransport(String binding) {
    this.binding = binding;
  }

  /// The name in agent cards.
  String binding() {
    return binding;
  }
}
