package dev.parley.protocol;

/// A fact about a context.
///
/// Facts never change and are never removed. To add a fact, add a record: the compiler then points
/// at every switch that has to know about it. Events are bare payloads: the runtime stamps them with
/// their context, position, time and origin when it appends them (see [Entry]), so nobody who emits
/// one can forge where it came from.
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

  /// The kind of this event.
  default Kind kind() {
    return Kind.of(this);
  }

  /// True if only readers that ask for internal events may see this one.
  default boolean internal() {
    return kind().internal();
  }
}
