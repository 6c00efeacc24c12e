package dev.parley.api.a2a;

import java.util.List;
import java.util.Optional;

/// Settings of the A2A API, where the protocol leaves a choice or its versions differ.
///
/// @param asIn100 status codes and content types of 1.0.0 over HTTP+JSON, instead of 1.0.1's
/// @param pureCard serve cards of version 1.0 also to clients that name no version
/// @param idempotent a message that is sent again returns its existing task
/// @param kagent messages and tasks carry the metadata that kagent clients read
/// @param requiredExtensions extensions that a request must name as supported
/// @param inputModes media types beside text that agents read; `*/*` is every type
/// @param privateWebhooks updates may be pushed to addresses that are not public
public record A2aSettings(
    boolean asIn100,
    boolean pureCard,
    boolean idempotent,
    boolean kagent,
    List<String> requiredExtensions,
    List<String> inputModes,
    boolean privateWebhooks) {

  /// The defaults.
  public static final A2aSettings DEFAULTS =
      new A2aSettings(false, false, true, true, List.of(), List.of(), false);

  public A2aSettings {
    requiredExtensions = List.copyOf(requiredExtensions);
    inputModes = List.copyOf(inputModes);
  }

  /// How clients reach the server.
  ///
  /// @param publicUrl the public address, if it is not the address that the server listens on
  /// @param tokens whether requests need a token
  public record A2aAccess(Optional<String> publicUrl, boolean tokens) {}
}
