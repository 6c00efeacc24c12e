package dev.parley.protocol;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What an agent thinks, for people, and what its loop does, for those who debug it.
public sealed interface ThoughtEvent extends Event {

  /// A piece of reasoning; `index` counts the pieces of a task from 0.
  record ThoughtStream(
      ThoughtId thoughtId,
      ThoughtType thoughtType,
      Verbosity verbosity,
      String content,
      int index,
      @Nullable ObjectNode metadata,
      @Nullable Visibility visibility)
      implements ThoughtEvent {

    @Override
    public boolean internal() {
      return visibility == Visibility.INTERNAL;
    }
  }

  /// The loop's own reasoning, more than people want.
  record InternalThoughtProcess(int iteration, Stage stage, String reasoning, ObjectNode state)
      implements ThoughtEvent {}

  /// A model is about to be asked.
  record InternalLlmCall(int iteration, String model, int messageCount, int toolCount)
      implements ThoughtEvent {}

  /// A turn is done; a run can be taken up from here.
  record InternalCheckpoint(int iteration, @Nullable ObjectNode state) implements ThoughtEvent {}

  /// What kind of reasoning a thought is.
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

  /// How much a thought says; a reader may ask for at most one of these.
  enum Verbosity implements WireName {
    BRIEF,
    NORMAL,
    DETAILED
  }

  /// Who may see a thought.
  enum Visibility implements WireName {
    INTERNAL,
    USER
  }

  /// Where in a turn the loop is.
  enum Stage implements WireName {
    PRE_LLM,
    POST_LLM,
    PRE_TOOL,
    POST_TOOL
  }
}
