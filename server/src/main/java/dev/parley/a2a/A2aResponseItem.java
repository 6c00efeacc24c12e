package dev.parley.a2a;

/// The result of a call, or an item of a stream.
public sealed interface A2aResponseItem
    permits A2aTask, A2aMessage, A2aStatusUpdate, A2aArtifactUpdate {}
