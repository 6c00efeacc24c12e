package dev.parley.offline;

import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelThought;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/// One request to the offline model: the person's message, the tool results since then, and the
/// reply in progress. For one thread.
final class OfflineTurn {

  /// The name of the offline model, which its usage reports.
  static final String MODEL = "offline";

  private static final int CHARACTERS_PER_TOKEN = 4;

  private final Prompt prompt;
  private final ModelSink modelSink;
  private final Supplier<String> ids;
  private final String request;
  private final List<PromptPart.PromptToolResult> results;
  private final List<ToolCall> calls = new ArrayList<>();
  private long written;

  OfflineTurn(Prompt prompt, ModelSink modelSink, Supplier<String> ids) {
    this.prompt = prompt;
    this.modelSink = modelSink;
    this.ids = ids;
    var last = lastRequest(prompt.parts());
    this.request = last < 0 ? "" : ((PromptPart.PromptMessage) prompt.parts().get(last)).text();
    this.results =
        prompt.parts().subList(last + 1, prompt.parts().size()).stream()
            .filter(PromptPart.PromptToolResult.class::isInstance)
            .map(PromptPart.PromptToolResult.class::cast)
            .toList();
  }

  private static int lastRequest(List<PromptPart> parts) {
    for (var i = parts.size() - 1; i >= 0; i--) {
      if (parts.get(i) instanceof PromptPart.PromptMessage(var role, _) && role == Role.USER) {
        return i;
      }
    }
    return -1;
  }

  /// Returns the person's last message.
  String request() {
    return request;
  }

  /// Returns the tool results since that message, oldest first.
  List<PromptPart.PromptToolResult> results() {
    return results;
  }

  List<PromptPart.PromptToolResult> results(String tool) {
    return results.stream().filter(result -> result.tool().equals(tool)).toList();
  }

  List<Prompt.ToolDescription> tools() {
    return prompt.tools();
  }

  boolean has(String tool) {
    return prompt.tools().stream().anyMatch(known -> known.name().equals(tool));
  }

  /// Writes a text, word by word.
  void writeText(String text) throws InterruptedException {
    var start = 0;
    for (var i = 1; i < text.length(); i++) {
      if (Character.isWhitespace(text.charAt(i)) && !Character.isWhitespace(text.charAt(i - 1))) {
        writePiece(text.substring(start, i));
        start = i;
      }
    }
    if (start < text.length()) {
      writePiece(text.substring(start));
    }
  }

  void writePiece(String text) throws InterruptedException {
    written += text.length();
    modelSink.text(text);
  }

  void think(ThoughtType type, Verbosity verbosity, String content) throws InterruptedException {
    think(ModelThought.of(type, verbosity, content));
  }

  void think(ModelThought modelThought) throws InterruptedException {
    written += modelThought.content().length();
    modelSink.thought(modelThought);
  }

  void call(String tool, ObjectNode arguments) {
    calls.add(new ToolCall(new ToolCallId(ids.get()), tool, arguments));
    written += tool.length() + arguments.toString().length();
  }

  void call(String tool, String name, String value) {
    call(tool, Json.object().put(name, value));
  }

  ModelReply reply() {
    var reason = calls.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_CALLS;
    var usage = new Usage(MODEL, tokens(read()), tokens(written), null, null, null);
    return new ModelReply.ModelAnswer(reason, calls, usage, null);
  }

  private long read() {
    return prompt.instructions().length()
        + prompt.parts().stream()
            .mapToLong(
                promptPart ->
                    switch (promptPart) {
                      case PromptPart.PromptMessage promptMessage -> promptMessage.text().length();
                      case PromptPart.PromptToolCalls promptToolCalls ->
                          promptToolCalls.text().length();
                      case PromptPart.PromptToolResult promptToolResult ->
                          promptToolResult.result().toString().length();
                    })
            .sum();
  }

  private static long tokens(long characters) {
    return (characters + CHARACTERS_PER_TOKEN - 1) / CHARACTERS_PER_TOKEN;
  }
}
