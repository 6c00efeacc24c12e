package dev.parley.door.a2a;

import java.util.List;
import java.util.Optional;

/// How the A2A door behaves where the protocol leaves it open, or its versions differ.
///
/// @param asIn100 status codes and content types of 1.0.0 over HTTP+JSON, instead of 1.0.1's
/// @param pureCard cards in the form of 1.0 also for those who name no version
/// @param idempotent the same message again is the same task
/// @param kagent messages and tasks say in their metadata what kagent's clients look for
/// @param requiredExtensions extensions that callers must say they support
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

  /// What is used unless the configuration says otherwise.
  public static final A2aSettings USUAL =
      new A2aSettings(false, false, true, true, List.of(), List.of(), false);

  public A2aSettings {
    requiredExtensions = List.copyOf(requiredExtensions);
    inputModes = List.copyOf(inputModes);
  }

  /// Where callers reach the server, if that is not where it listens, and whether they must show a token.
  public record Access(Optional<String> publicUrl, boolean tokens) {}
}
