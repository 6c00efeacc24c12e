package dev.parley.agent;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolQuestion;
import dev.parley.tool.ToolResult;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// A tool for tests that records its calls.
record TestTool(
    String name,
    Effect effect,
    Permission permission,
    boolean concurrent,
    TestToolBody body,
    List<ObjectNode> called)
    implements Tool {

  interface TestToolBody {
    ToolResult run(ObjectNode arguments, ToolContext context) throws InterruptedException;
  }

  static TestTool of(String name, Effect effect, Permission permission, TestToolBody testToolBody) {
    return new TestTool(name, effect, permission, true, testToolBody, new CopyOnWriteArrayList<>());
  }

  static TestTool echo(String name, Permission permission) {
    return of(name, Effect.AT_MOST_ONCE, permission, (arguments, _) -> done(arguments.toString()));
  }

  /// Asks the question in its arguments, and returns the answer.
  static TestTool asking() {
    return of(
        "ask",
        Effect.PURE,
        Permission.ALLOW,
        (arguments, context) ->
            context
                .answer()
                .map(
                    toolAnswer ->
                        switch (toolAnswer) {
                          case ToolAnswer.Given(var value) -> new ToolResult.Done(value);
                          case ToolAnswer.Lapsed(var reason, _) ->
                              (ToolResult) new ToolResult.Failed(reason);
                        })
                .orElseGet(
                    () ->
                        new ToolResult.NeedsAnswer(
                            ToolQuestion.open(
                                arguments.path("q").asString(),
                                arguments.path("user").asBoolean(false)))));
  }

  static ToolResult done(String text) {
    return new ToolResult.Done(StringNode.valueOf(text));
  }

  @Override
  public String description() {
    return "a tool for tests";
  }

  @Override
  public ObjectNode schema() {
    var schema = Json.object().put("type", "object");
    schema.putObject("properties").putObject("c").put("type", "string");
    return schema;
  }

  @Override
  public ToolResult call(ObjectNode arguments, ToolContext context) throws InterruptedException {
    called.add(arguments);
    return body.run(arguments, context);
  }
}
