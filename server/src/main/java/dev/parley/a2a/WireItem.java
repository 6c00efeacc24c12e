package dev.parley.a2a;

/// What a call or a stream can answer with.
public sealed interface WireItem
    permits WireTask, WireMessage, WireStatusUpdate, WireArtifactUpdate {}
