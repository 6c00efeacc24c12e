package dev.parley.protocol;

/// An identifier: 1 to 128 characters of `A-Za-z0-9._:-`.
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

  /// Maximum length of an id.
  int LENGTH_MAX = 128;

  /// The id as text.
  String value();

  /// True if `text` is a valid id.
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

  /// Throws a rejection if the id is not valid. For use in constructors.
  static void check(String name, String text) {
    if (!valid(text)) {
      throw rejection(name);
    }
  }

  /// The rejection of an invalid id in the field `name`.
  static Rejection.Invalid rejection(String name) {
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
