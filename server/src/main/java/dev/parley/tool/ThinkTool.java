package dev.parley.tool;

import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import dev.parley.tool.ToolContext.ToolThought;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `think`: publishes a thought of the model, for people who follow its work.
public final class ThinkTool extends BuiltInTool<ThinkTool.Arguments> {

  private static final String DESCRIPTION =
      "Records a thought for people who follow your work, and does nothing else. confidence is"
          + " between 0 and 1. relatedTo is the id of the tool call that the thought is about."
          + " visibility internal hides the thought from people who do not debug.";

  private static final int THOUGHT_MAX = 20_000;
  private static final int ID_MAX = 128;

  /// The thought, its type, its confidence, its level of detail, what it relates to, and who may
  /// see it.
  public record Arguments(
      String thought,
      @Nullable ThoughtType type,
      @Nullable Double confidence,
      @Nullable Verbosity verbosity,
      @Nullable String relatedTo,
      @Nullable Visibility visibility) {}

  public ThinkTool() {
    super("think", Effect.PURE, Arguments.class, DESCRIPTION);
  }

  @Override
  public List<String> privateArguments(ObjectNode arguments) {
    return arguments.path("visibility").asString("").equalsIgnoreCase(Visibility.INTERNAL.wire())
        ? List.of("thought")
        : List.of();
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
          "thought must have 1 to " + THOUGHT_MAX + " characters and not be blank");
    }
    var confidence = arguments.confidence();
    if (confidence != null && !(confidence >= 0 && confidence <= 1)) {
      return new ToolResult.Failed("confidence must be between 0 and 1");
    }
    var relatedTo = arguments.relatedTo();
    if (relatedTo != null && (relatedTo.isBlank() || relatedTo.length() > ID_MAX)) {
      return new ToolResult.Failed("relatedTo must be an id of at most " + ID_MAX + " characters");
    }
    context.reportThought(
        new ToolThought(
            arguments.type() == null ? ThoughtType.REASONING : arguments.type(),
            arguments.verbosity() == null ? Verbosity.NORMAL : arguments.verbosity(),
            thought,
            confidence,
            relatedTo,
            arguments.visibility()));
    return new ToolResult.Done(Json.object().put("noted", true));
  }
}
