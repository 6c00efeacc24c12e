package dev.parley.tool;

import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts;
import dev.parley.task.WhenLapsed;
import dev.parley.tool.ToolQuestion.Urgency;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// `ask_user`: asks a person, or the parent agent, and waits for the answer.
public final class AskUserTool extends BuiltInTool<AskUserTool.Arguments> {

  private static final String DESCRIPTION =
      "Asks a question and waits for the answer. options are the answers to choose from;"
          + " schema is the JSON Schema of the answer, if it is more than text. The agent that"
          + " gave you the task may answer for the person unless requireUser is true."
          + " whenLapsed defines whether you continue without an answer if none is given in time,"
          + " or the task fails. urgency is low, medium or high. Returns {answer}.";

  private static final int QUESTION_MAX = 10_000;
  private static final int OPTIONS_MAX = 100;

  /// The question, the possible answers, and whether only a person may answer.
  public record Arguments(
      String question,
      @Nullable List<String> options,
      @Nullable ObjectNode schema,
      @Nullable Boolean requireUser,
      @Nullable WhenLapsed whenLapsed,
      @Nullable Urgency urgency) {}

  public AskUserTool() {
    super("ask_user", Effect.PURE, Arguments.class, DESCRIPTION);
  }

  @Override
  public ToolResult call(Arguments arguments, ToolContext context) {
    var question = arguments.question();
    if (question.isBlank() || question.length() > QUESTION_MAX) {
      return new ToolResult.Failed(
          "question must have 1 to " + QUESTION_MAX + " characters and not be blank");
    }
    var options = arguments.options() == null ? List.<String>of() : arguments.options();
    if (options.size() > OPTIONS_MAX) {
      return new ToolResult.Failed("there may be at most " + OPTIONS_MAX + " options");
    }
    return switch (context.answer().orElse(null)) {
      case null -> new ToolResult.NeedsAnswer(asked(arguments, options));
      case ToolAnswer.Given(var value) -> {
        var result = Json.object();
        result.set("answer", value);
        yield new ToolResult.Done(result);
      }
      case ToolAnswer.Lapsed(var reason, _) ->
          new ToolResult.Failed("there is no answer: " + reason);
    };
  }

  private static ToolQuestion asked(Arguments arguments, List<String> options) {
    var metadata = Json.object();
    if (arguments.whenLapsed() != null) {
      QuestionFacts.putWhenLapsed(metadata, arguments.whenLapsed());
    }
    if (arguments.urgency() != null) {
      QuestionFacts.putUrgency(metadata, arguments.urgency());
    }
    return new ToolQuestion(
        !options.isEmpty()
            ? InputType.SELECTION
            : arguments.schema() == null ? InputType.CLARIFICATION : InputType.DATA,
        arguments.question(),
        arguments.schema(),
        options.stream().<JsonNode>map(StringNode::valueOf).toList(),
        Boolean.TRUE.equals(arguments.requireUser()),
        null,
        metadata.isEmpty() ? null : metadata);
  }
}
