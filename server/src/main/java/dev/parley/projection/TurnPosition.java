package dev.parley.projection;

/// The position of a message, or of the first event of a task's turn. A turn starts with the
/// message that requested it, if there is one.
///
/// `rewound` is true if it is no longer active. `root` is true unless it belongs to another task's
/// turn.
public record TurnPosition(long seq, boolean rewound, boolean root) {}
