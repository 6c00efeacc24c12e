package dev.parley.tool;

import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.ToolCallFacts;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// A tool that runs in a client: a client that implements it executes the call and sends the
/// result.
///
/// The call itself only asks a question, so it may run again: then it finds the answer. A result of
/// the form `{"error": "..."}` fails the call.
public final class ClientTool implements Tool {

  private final String name;
  private final String description;
  private final ObjectNode schema;

  public ClientTool(String name, String description, ObjectNode schema) {
    this.name = name;
    this.description = description;
    this.schema = schema.deepCopy();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public ObjectNode schema() {
    return schema.deepCopy();
  }

  @Override
  public Effect effect() {
    return Effect.PURE;
  }

  @Override
  public boolean concurrent() {
    return true;
  }

  @Override
  public String provider() {
    return ToolCallFacts.CLIENT;
  }

  @Override
  public ToolResult call(ObjectNode arguments, ToolContext context) {
    return switch (context.answer().orElse(null)) {
      case null -> new ToolResult.NeedsAnswer(question(arguments, context));
      case ToolAnswer.Given(var value) when value.path("error").isString() ->
          new ToolResult.Failed(value.path("error").asString());
      case ToolAnswer.Given(var value) -> new ToolResult.Done(value);
      case ToolAnswer.Lapsed(var reason, _) -> new ToolResult.Failed("no client ran it: " + reason);
    };
  }

  private ToolQuestion question(ObjectNode arguments, ToolContext context) {
    var metadata = Json.object();
    QuestionFacts.putToolCall(
        metadata, new QuestionFacts.AskedCall(context.call().value(), name, arguments));
    return new ToolQuestion(
        InputType.TOOL_EXECUTION,
        "The client must execute the tool " + name + ".",
        null,
        List.of(),
        true,
        null,
        metadata);
  }
}
