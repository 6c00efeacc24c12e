package dev.parley.model;

import dev.parley.net.ServerSentEvent;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the event stream of Anthropic's Messages API. For one thread.
final class AnthropicStreamParser extends ModelStreamParser {

  /// A block of the answer: text, thinking, or a tool call. The type of any other block is empty.
  private static final class Block {
    private final String type;
    private final ObjectNode start;
    private final StringBuilder thinking = new StringBuilder();
    private final StringBuilder signature = new StringBuilder();
    private final ToolCallDraft call = new ToolCallDraft();
    private int length;

    Block(String type, ObjectNode start) {
      this.type = type;
      this.start = start;
    }

    /// Returns the thinking block as the server sent it. A redacted block arrives in one event.
    ObjectNode thought() {
      return type.equals("thinking")
          ? SurrogateRepair.object(
              start.put("thinking", thinking.toString()).put("signature", signature.toString()))
          : start;
    }
  }

  private final AnthropicRequest anthropicRequest;
  private final TreeMap<Integer, Block> blocks = new TreeMap<>();
  private String stopReason = "";

  AnthropicStreamParser(AnthropicRequest request, Supplier<String> ids, SinkWriter sinkWriter) {
    super(request, ids, sinkWriter);
    this.anthropicRequest = request;
  }

  @Override
  boolean accept(ServerSentEvent event) throws ModelFailure, InterruptedException {
    var json = ModelFailures.json(event);
    switch (json.path("type").asString(event.event())) {
      case "message_start" -> tokenCounter.addAnthropic(json.path("message").path("usage"));
      case "content_block_start" -> begin(json.path("index").asInt(0), json.path("content_block"));
      case "content_block_delta" -> {
        var block = blocks.get(json.path("index").asInt(0));
        if (block != null) {
          add(block, json.path("delta"));
        }
      }
      case "message_delta" -> {
        tokenCounter.addAnthropic(json.path("usage"));
        stopReason = json.path("delta").path("stop_reason").asString(stopReason);
      }
      case "message_stop" -> {
        return true;
      }
      case "error" -> throw ModelFailures.fromStream(json);
      default -> {
        // Pings, ends of blocks, and events that this version does not know.
      }
    }
    return false;
  }

  private void begin(int index, JsonNode start) throws InterruptedException {
    var type = start.path("type").asString("");
    var block =
        new Block(type, start instanceof ObjectNode object ? object.deepCopy() : Json.object());
    blocks.put(index, block);
    switch (type) {
      case "text" -> text(block, start.path("text").asString(""));
      case "thinking" -> {
        sinkWriter.separateThought();
        think(block, start.path("thinking").asString(""));
        block.signature.append(start.path("signature").asString(""));
      }
      case "tool_use" -> {
        block.call.setIdAndName(start.path("id").asString(""), start.path("name").asString(""));
        // Some servers send the arguments with the first event.
        if (!start.path("input").isEmpty()) {
          block.call.add(start.path("input").toString());
        }
      }
      default -> {
        // A redacted thinking block arrives in one event.
      }
    }
  }

  private void add(Block block, JsonNode delta) throws InterruptedException {
    switch (delta.path("type").asString("")) {
      case "text_delta" -> text(block, delta.path("text").asString(""));
      case "thinking_delta" -> think(block, delta.path("thinking").asString(""));
      case "signature_delta" -> block.signature.append(delta.path("signature").asString(""));
      case "input_json_delta" -> block.call.add(delta.path("partial_json").asString(""));
      default -> {
        // Citations and other deltas that are not needed.
      }
    }
  }

  private void text(Block block, String piece) throws InterruptedException {
    var before = sinkWriter.length();
    sinkWriter.text(piece);
    block.length += sinkWriter.length() - before;
  }

  private void think(Block block, String piece) throws InterruptedException {
    block.thinking.append(piece);
    sinkWriter.thinking(piece);
  }

  @Override
  ModelReply.ModelAnswer finish() throws ModelFailure, InterruptedException {
    if (stopReason.isEmpty()) {
      throw ModelFailures.endedEarly();
    }
    var drafts = new ArrayList<ToolCallDraft>();
    for (var block : blocks.values()) {
      if (block.type.equals("tool_use")) {
        if (anthropicRequest.takesAnswer(block.call.name())) {
          sinkWriter.answer(block.call.arguments());
        } else {
          drafts.add(block.call);
        }
      }
    }
    return answer(drafts, reason(drafts), memo());
  }

  private FinishReason reason(List<ToolCallDraft> calls) {
    return switch (stopReason) {
      case "max_tokens", "model_context_window_exceeded" -> FinishReason.LENGTH;
      case "refusal" -> FinishReason.REFUSAL;
      default -> calls.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_CALLS;
    };
  }

  /// Returns the thinking blocks, and their order among text and tool calls.
  private @Nullable JsonNode memo() {
    if (blocks.values().stream().noneMatch(block -> AnthropicMessages.thought(block.start))) {
      return null;
    }
    var memo = Json.object().put("model", request.settings.model());
    var list = memo.putArray("blocks");
    for (var block : blocks.values()) {
      switch (block.type) {
        case "thinking", "redacted_thinking" -> list.add(block.thought());
        case "text" -> list.addObject().put("type", "text").put("length", block.length);
        case "tool_use" -> {
          if (!anthropicRequest.takesAnswer(block.call.name())) {
            list.addObject().put("type", "tool_use");
          }
        }
        default -> {
          // Other blocks are not sent back to the server.
        }
      }
    }
    return memo;
  }
}
