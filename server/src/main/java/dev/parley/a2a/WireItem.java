package dev.parley.a2a;

/// The result of a call, or an item of a stream.
public sealed interface WireItem
    permits WireTask, WireMessage, WireStatusUpdate, WireArtifactUpdate {}
