package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import org.jspecify.annotations.Nullable;

/// `think`: makes a thought of the model known, for people who want to follow it.
public final class Think implements TypedTool<Think.Arguments> {

  private static final int THOUGHT_MAX = 20_000;
  private static final int ID_MAX = 128;

  /// What is thought, of which kind, how sure, how much it says, what it is about, and who may see it.
  public record Arguments(
      String thought,
      @Nullable ThoughtType type,
      @Nullable Double confidence,
      @Nullable Verbosity verbosity,
      @Nullable String relatedTo,
      @Nullable Visibility visibility) {}

  @Override
  public String name() {
    return "think";
  }

  @Override
  public String description() {
    return "Thinks aloud: notes a thought for whoever follows your work, and does nothing else."
        + " confidence is between 0 and 1. relatedTo is the id of the tool call that the thought is"
        + " about. visibility internal hides the thought from people who do not debug.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public Effect effect() {
    return Effect.PURE;
  }

  @Override
  public boolean concurrent() {
    return false;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    var thought = arguments.thought();
    if (thought.isBlank() || thought.length() > THOUGHT_MAX) {
      return new ToolResult.Failed(
          "thought is what you think, in at most " + THOUGHT_MAX + " characters");
    }
    var confidence = arguments.confidence();
    if (confidence != null && !(confidence >= 0 && confidence <= 1)) {
      return new ToolResult.Failed("confidence is between 0 and 1");
    }
    var relatedTo = arguments.relatedTo();
    if (relatedTo != null && (relatedTo.isBlank() || relatedTo.length() > ID_MAX)) {
      return new ToolResult.Failed("relatedTo is an id of at most " + ID_MAX + " characters");
    }
    context.think(
        new Thought(
            arguments.type() == null ? ThoughtType.REASONING : arguments.type(),
            arguments.verbosity() == null ? Verbosity.NORMAL : arguments.verbosity(),
            thought,
            confidence,
            relatedTo,
            arguments.visibility()));
    return new ToolResult.Done(Json.object().put("noted", true));
  }
}
