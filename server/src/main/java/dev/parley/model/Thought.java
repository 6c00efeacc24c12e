package dev.parley.model;

import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A piece of a model's reasoning.
public record Thought(
    ThoughtType type,
    Verbosity verbosity,
    String content,
    @Nullable Double confidence,
    List<String> alternatives) {

  public Thought {
    alternatives = List.copyOf(alternatives);
  }

  /// A thought with nothing but its words.
  public static Thought of(ThoughtType type, Verbosity verbosity, String content) {
    return new Thought(type, verbosity, content, null, List.of());
  }
}
