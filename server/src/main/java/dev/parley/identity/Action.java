package dev.parley.identity;

/// What a request does to the resource that it names.
public enum Action {
  /// Nothing that needs a permission. The operation decides on its own, or is public.
  NONE,
  /// Reads a context.
  READ,
  /// Changes a context, or creates one.
  WRITE,
  /// Answers a question or an approval of a task.
  ANSWER,
  /// Deletes or shares a context.
  OWN,
  /// Administers people, groups and keys.
  ADMINISTER,
  /// Operates the server.
  OPERATE
}
