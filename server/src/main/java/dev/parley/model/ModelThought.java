package dev.parley.model;

import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A part of a model's reasoning.
public record ModelThought(
    ThoughtType type,
    Verbosity verbosity,
    String content,
    @Nullable Double confidence,
    List<String> alternatives) {

  public ModelThought {
    alternatives = List.copyOf(alternatives);
  }

  /// Returns a thought that has only text.
  public static ModelThought of(ThoughtType type, Verbosity verbosity, String content) {
    return new ModelThought(type, verbosity, content, null, List.of());
  }
}
