package dev.parley.protocol;

/// A fact about a context.
///
/// Facts never change and are never removed. To add a fact, add a record: the compiler then reports
/// each switch that must handle it. Events contain only their payload. The server adds the context,
/// position, time and origin when it appends them (see [Entry]), so a client cannot forge them.
public sealed interface Event
    permits ArtifactEvent,
        AuthEvent,
        ContentEvent,
        ContextEvent,
        InputEvent,
        MessageEvent,
        ReportEvent,
        SubtaskEvent,
        TaskEvent,
        ThoughtEvent,
        ToolEvent {

  /// True if only readers that request internal events receive this one.
  default boolean internal() {
    return false;
  }
}
