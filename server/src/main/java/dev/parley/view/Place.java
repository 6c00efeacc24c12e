package dev.parley.view;

/// Where a message stands, or the turn of a task begins: with the message that asked for it, if one did.
///
/// `rewound` says that it no longer counts; `root` that it is no part of another's turn.
public record Place(long seq, boolean rewound, boolean root) {}
