package dev.parley.model;

import dev.parley.net.ServerSentEvent;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the event stream of OpenAI's chat completions API and compatible servers. For one thread.
final class ChatCompletionsStreamParser extends ModelStreamParser {

  private static final String DONE = "[DONE]";
  private static final List<String> REASONING = List.of("reasoning_content", "reasoning");

  private final List<ToolCallDraft> drafts = new ArrayList<>();
  private final Map<ToolCallDraft, JsonNode> extras = new HashMap<>();
  private final Map<Integer, ToolCallDraft> places = new HashMap<>();
  private final StringBuilder reasoning = new StringBuilder();
  private String reasoningField = "";
  private String finishReason = "";
  private @Nullable ToolCallDraft function;
  private boolean refused;
  private boolean done;
  private boolean begun;

  ChatCompletionsStreamParser(
      ProviderRequest request, Supplier<String> ids, SinkWriter sinkWriter) {
    super(request, ids, sinkWriter);
  }

  @Override
  boolean accept(ServerSentEvent event) throws ModelFailure, InterruptedException {
    if (event.data().strip().equals(DONE)) {
      done = true;
      return true;
    }
    var json = ModelFailures.json(event);
    if (json.hasNonNull("error")) {
      throw ModelFailures.fromStream(json);
    }
    // Usage is in the last chunk, or in a chunk after it that has no choices.
    tokenCounter.addOpenAi(json.path("usage"), "prompt", "completion");
    for (var choice : json.path("choices")) {
      // The request asks for one choice; others are ignored.
      if (choice.isObject() && choice.path("index").asInt(0) == 0) {
        begun = true;
        delta(choice.path("delta"));
        finishReason = choice.path("finish_reason").asString(finishReason);
      }
    }
    return false;
  }

  private void delta(JsonNode delta) throws InterruptedException {
    for (var field : REASONING) {
      if (ChatCompletionsRequest.hasText(delta.path(field))) {
        reasoningField = field;
        var piece = delta.path(field).asString();
        reasoning.append(piece);
        sinkWriter.thinking(piece);
        // Some servers send the same text in both fields.
        break;
      }
    }
    if (ChatCompletionsRequest.hasText(delta.path("refusal"))) {
      refused = true;
      sinkWriter.text(delta.path("refusal").asString());
    }
    content(delta.path("content"));
    for (var call : delta.path("tool_calls")) {
      call(call);
    }
    if (delta.path("function_call").isObject()) {
      function(delta.path("function_call"));
    }
  }

  /// Adds content that is a text or, from some servers, a list of parts.
  private void content(JsonNode content) throws InterruptedException {
    if (ChatCompletionsRequest.hasText(content)) {
      sinkWriter.text(content.asString());
    } else if (content.isArray()) {
      for (var part : content) {
        part(part);
      }
    }
  }

  private void part(JsonNode part) throws InterruptedException {
    switch (part.path("type").asString("")) {
      case "text", "output_text" -> content(part.path("text"));
      case "refusal" -> {
        refused = true;
        content(part.path("refusal"));
      }
      case "thinking", "reasoning" -> {
        var field = part.path("type").asString();
        for (var thought : part.path(field).isArray() ? part.path(field) : List.of(part)) {
          sinkWriter.thinking(thought.path("text").asString(thought.path(field).asString("")));
        }
      }
      default -> content(part); // A plain text. Other parts are ignored.
    }
  }

  /// Adds a call in the deprecated field `function_call`. Newer servers may send it in addition to
  /// `tool_calls`.
  private void function(JsonNode piece) {
    if (function == null) {
      function = new ToolCallDraft();
    }
    function.setIdAndName("", piece.path("name").asString(""));
    function.add(arguments(piece));
  }

  /// Some servers send an object instead of its text.
  private static String arguments(JsonNode function) {
    var arguments = function.path("arguments");
    return arguments.isObject() ? arguments.toString() : arguments.asString("");
  }

  private void call(JsonNode piece) {
    var id = piece.path("id").asString("");
    var called = piece.path("function");
    var draft = draft(piece.path("index"), id);
    draft.setIdAndName(id, called.path("name").asString(""));
    draft.add(arguments(called));
    if (piece.path(ChatCompletionsMemo.EXTRA) instanceof ObjectNode extra) {
      extras.put(draft, extra);
    }
  }

  /// Returns the call that a piece belongs to. Some servers omit the index, or send the same for
  /// every call.
  private ToolCallDraft draft(JsonNode index, String id) {
    var place = index.isInt() ? index.asInt() : id.isEmpty() ? drafts.size() - 1 : drafts.size();
    var known = places.get(place);
    if (known != null && (id.isEmpty() || known.id().isEmpty() || known.id().equals(id))) {
      return known;
    }
    var draft = new ToolCallDraft();
    drafts.add(draft);
    places.put(place, draft);
    return draft;
  }

  @Override
  ModelReply.ModelAnswer finish() throws ModelFailure, InterruptedException {
    if (finishReason.isEmpty() && !(done && begun)) {
      throw ModelFailures.endedEarly();
    }
    if (drafts.isEmpty() && function != null) {
      drafts.add(function);
    }
    var wanted = Json.mapper().createArrayNode();
    for (var draft : drafts) {
      var extra = extras.get(draft);
      wanted.add(extra == null ? Json.mapper().nullNode() : extra);
    }
    var memo =
        ChatCompletionsMemo.of(
            request.settings.model(), reasoningField, reasoning.toString(), wanted);
    return answer(drafts, reason(), memo);
  }

  private FinishReason reason() {
    return switch (finishReason) {
      case "length" -> FinishReason.LENGTH;
      case "content_filter" -> FinishReason.CONTENT_FILTER;
      default -> {
        if (refused) {
          yield FinishReason.REFUSAL;
        }
        yield drafts.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_CALLS;
      }
    };
  }
}
