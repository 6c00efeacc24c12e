package dev.parley.view;

import tools.jackson.databind.node.ObjectNode;

/// What going back to an earlier seq does to the state and to the artifacts: the keys and ids that change,
/// with the value or version they go back to, or null where there was none.
public record Undo(ObjectNode state, ObjectNode artifacts) {}
