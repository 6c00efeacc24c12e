package dev.parley.projection;

import tools.jackson.databind.node.ObjectNode;

/// The effect of a rewind on state and artifacts: the keys and ids that change, with the value or
/// version that they return to, or null if they did not exist.
public record RewindEffect(ObjectNode state, ObjectNode artifacts) {}
