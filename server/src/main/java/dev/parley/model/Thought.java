package dev.parley.model;

import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A part of a model's reasoning.
public record Thought(
    ThoughtType type,
    Verbosity verbosity,
    String content,
    @Nullable Double confidence,
    List<String> alternatives) {

  public Thought {
    alternatives = List.copyOf(alternatives);
  }

  /// Returns a thought that has only text.
  public static Thought of(ThoughtType type, Verbosity verbosity, String content) {
    return new Thought(type, verbosity, content, null, List.of());
  }
}
