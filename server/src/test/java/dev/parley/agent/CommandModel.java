package dev.parley.agent;

import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/// A model that follows commands: each line `!tool {arguments}` of the last message is a call, and
/// when all have returned, it answers with their results. It echoes any other message. It is
/// stateless: its replies depend only on the prompt.
final class CommandModel implements Model {

  final List<Prompt> asked = new CopyOnWriteArrayList<>();

  @Override
  public String name() {
    return "command";
  }

  @Override
  public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
    asked.add(prompt);
    if (prompt.answerSchema() != null) {
      modelSink.text(coordinate(prompt));
      return answered(List.of());
    }
    var results = new ArrayList<PromptPart.PromptToolResult>();
    var said = "";
    for (var promptPart : prompt.parts()) {
      switch (promptPart) {
        case PromptPart.PromptMessage(var role, var text) when role == Role.USER -> {
          said = text;
          results.clear();
        }
        case PromptPart.PromptToolResult promptToolResult -> results.add(promptToolResult);
        default -> {} // Its own text.
      }
    }
    if (said.equals("fail")) {
      return new ModelReply.ModelError(ErrorCode.MODEL_ERROR, "told to fail", false);
    }
    var commands = said.lines().filter(line -> line.startsWith("!")).toList();
    if (commands.isEmpty() || !results.isEmpty()) {
      modelSink.text(
          results.isEmpty()
              ? said
              : results.stream().map(CommandModel::told).collect(Collectors.joining(" | ")));
      return answered(List.of());
    }
    var calls = new ArrayList<ToolCall>();
    for (var command : commands) {
      var space = command.indexOf(' ');
      var arguments =
          space < 0
              ? Json.object()
              : Json.mapper().readValue(command.substring(space + 1), ObjectNode.class);
      calls.add(
          new ToolCall(
              new ToolCallId("call" + calls.size()),
              command.substring(1, space < 0 ? command.length() : space),
              arguments));
    }
    return answered(calls);
  }

  /// Answers a question about PLACE if the parent's prompt has a line `the PLACE is ANSWER`.
  private static String coordinate(Prompt prompt) {
    var told = ((PromptPart.PromptMessage) prompt.parts().getFirst()).text();
    var question = ((PromptPart.PromptMessage) prompt.parts().getLast()).text();
    for (var line : told.split("\\R", -1)) {
      if (line.startsWith("the ") && line.contains(" is ")) {
        var place = line.substring(4, line.indexOf(" is "));
        if (question.contains(place)) {
          return Json.object()
              .put("known", true)
              .put("answer", line.substring(line.indexOf(" is ") + 4))
              .toString();
        }
      }
    }
    return "{\"known\":false}";
  }

  private static String told(PromptPart.PromptToolResult promptToolResult) {
    var result = promptToolResult.result();
    return (promptToolResult.success() ? "" : "FAILED ")
        + (result.isString() ? result.asString() : result.toString());
  }

  private static ModelReply answered(List<ToolCall> calls) {
    return new ModelReply.ModelAnswer(
        calls.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_CALLS,
        calls,
        new Usage("command", 10, 5, null, null, null),
        null);
  }
}
