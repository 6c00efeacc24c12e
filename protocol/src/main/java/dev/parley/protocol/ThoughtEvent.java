package dev.parley.protocol;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Reasoning of an agent, and details of its loop for debugging.
public sealed interface ThoughtEvent extends Event {

  /// A piece of reasoning. `index` counts the pieces of a task from 0.
  record ThoughtStream(
      ThoughtId thoughtId,
      ThoughtType thoughtType,
      Verbosity verbosity,
      String content,
      int index,
      @Nullable ObjectNode metadata,
      @Nullable Visibility visibility)
      implements ThoughtEvent {

    /// What the metadata says.
    public ThoughtFacts facts() {
      return ThoughtFacts.of(metadata);
    }

    @Override
    public boolean internal() {
      return visibility == Visibility.INTERNAL;
    }
  }

  /// The reasoning of the agent loop, in more detail than users need.
  record InternalThoughtProcess(int iteration, Stage stage, String reasoning, ObjectNode state)
      implements ThoughtEvent {

    @Override
    public boolean internal() {
      return true;
    }
  }

  /// A model call is about to start.
  record InternalLlmCall(int iteration, String model, int messageCount, int toolCount)
      implements ThoughtEvent {

    @Override
    public boolean internal() {
      return true;
    }
  }

  /// A turn is complete. A run can resume from here.
  record InternalCheckpoint(int iteration, @Nullable ObjectNode state) implements ThoughtEvent {

    @Override
    public boolean internal() {
      return true;
    }
  }

  /// The kind of reasoning.
  enum ThoughtType implements WireName {
    PLANNING,
    REASONING,
    REFLECTION,
    DECISION,
    OBSERVATION,
    STRATEGY,
    ANALYSIS,
    THINKING
  }

  /// The level of detail of a thought. A reader may limit it.
  enum Verbosity implements WireName {
    BRIEF,
    NORMAL,
    DETAILED
  }

  /// The audience of a thought.
  enum Visibility implements WireName {
    INTERNAL,
    USER
  }

  /// The stage of a turn.
  enum Stage implements WireName {
    PRE_LLM,
    POST_LLM,
    PRE_TOOL,
    POST_TOOL
  }

  /// What the metadata of `thought-stream` says. The keys are known only here.
  final class ThoughtFacts {

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
}
