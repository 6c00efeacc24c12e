package dev.parley.protocol;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of `thought-stream` says. The keys are known only here.
public final class ThoughtFacts {

  private static final String CONFIDENCE = "confidence";

  private final MetadataFields fields;

  private ThoughtFacts(@Nullable ObjectNode metadata) {
    fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a thought.
  public static ThoughtFacts of(@Nullable ObjectNode metadata) {
    return new ThoughtFacts(metadata);
  }

  /// The model's confidence, between 0 and 1; 1 if the model gives none.
  public double confidence() {
    return fields.value(CONFIDENCE).asDouble(1);
  }
}
