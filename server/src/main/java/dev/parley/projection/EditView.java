package dev.parley.projection;

import java.time.Instant;

/// The text of a message before an edit.
public record EditView(String content, Instant editedAt) {}
