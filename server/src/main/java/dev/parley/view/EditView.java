package dev.parley.view;

import java.time.Instant;

/// What a message read until it was edited.
public record EditView(String content, Instant editedAt) {}
