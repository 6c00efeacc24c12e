package dev.parley.protocol;

/// A name for one thing: 1 to 128 characters of `A-Za-z0-9._:-`.
public sealed interface Id
    permits AgentTypeId,
        ArtifactId,
        AuthId,
        BlockId,
        ContextId,
        InputId,
        InvocationId,
        MessageId,
        TaskId,
        ThoughtId,
        ToolCallId {

  /// The most characters an id may have.
  int LENGTH_MAX = 128;

  /// The id as it is written on the wire.
  String value();

  /// True if `text` may be an id.
  static boolean valid(String text) {
    if (text.isEmpty() || text.length() > LENGTH_MAX) {
      return false;
    }
    for (var i = 0; i < text.length(); i++) {
      if (!allowed(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /// Refuses an id that is not valid, on behalf of a constructor.
  static void check(String name, String text) {
    if (!valid(text)) {
      throw refusal(name);
    }
  }

  /// What to tell someone whose id, called `name`, is not valid.
  static Rejection.Invalid refusal(String name) {
    return new Rejection.Invalid(
        "invalid-id", name + " must be 1 to " + LENGTH_MAX + " characters of A-Z a-z 0-9 . _ : -");
  }

  private static boolean allowed(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '_'
        || c == '.'
        || c == ':';
  }
}
