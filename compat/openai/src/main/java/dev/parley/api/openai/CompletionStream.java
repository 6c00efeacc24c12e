package dev.parley.api.openai;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.stream.ProjectedStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Streams a response as the chunks of a chat completion. For one thread.
final class CompletionStream implements ProjectedStream.EntryEncoder {

  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(StandardCharsets.US_ASCII);

  private final ResponseProjection projection;
  private final boolean withUsage;
  private String lastItem = "";
  private int calls;

  /// @param withUsage the last chunk has the usage
  CompletionStream(ResponseProjection projection, boolean withUsage) {
    this.projection = projection;
    this.withUsage = withUsage;
  }

  @Override
  public byte[] open() {
    return ResponseEventStream.OPEN.clone();
  }

  @Override
  public byte[] frames(Entry entry) {
    var bytes = new ByteArrayOutputStream();
    for (var event : projection.apply(entry)) {
      switch (event.path("type").asString()) {
        case "response.created" ->
            write(bytes, delta(Json.object().put("role", "assistant").put("content", "")));
        case "response.output_text.delta" -> write(bytes, delta(text(event)));
        case "response.reasoning_summary_text.delta" ->
            write(
                bytes,
                delta(Json.object().put("reasoning_content", event.path("delta").asString())));
        case "response.output_item.done" -> item(bytes, event);
        case "response.completed", "response.incomplete", "response.failed" -> end(bytes);
        default -> {} // Chat completions have no chunk for other events.
      }
    }
    return bytes.toByteArray();
  }

  /// Texts of different items are separated, as in the complete answer.
  private ObjectNode text(ObjectNode event) {
    var item = event.path("item_id").asString();
    var separator = lastItem.isEmpty() || lastItem.equals(item) ? "" : ChatCompletions.SEPARATOR;
    lastItem = item;
    return Json.object().put("content", separator + event.path("delta").asString());
  }

  private void item(ByteArrayOutputStream bytes, ObjectNode event) {
    if (event.path("item") instanceof ObjectNode item
        && item.path("type").asString().equals("function_call")) {
      var delta = Json.object();
      var call = delta.putArray("tool_calls").addObject().put("index", calls++);
      call.setAll(ChatCompletions.toolCall(item));
      write(bytes, delta(delta));
    }
  }

  private void end(ByteArrayOutputStream bytes) {
    var response = projection.response();
    if (response.status() == ResponseRecord.Status.FAILED) {
      var error = Json.object();
      error
          .putObject("error")
          .put("message", response.errorMessage())
          .put("type", "server_error")
          .put("code", response.errorCode())
          .putNull("param");
      write(bytes, error);
      bytes.writeBytes(DONE);
      return;
    }
    write(bytes, chunk(Json.object(), ChatCompletions.finishReason(response)));
    if (withUsage) {
      var chunk = head();
      chunk.putArray("choices");
      chunk.set("usage", response.completionUsage());
      write(bytes, chunk);
    }
    bytes.writeBytes(DONE);
  }

  private ObjectNode delta(ObjectNode delta) {
    return chunk(delta, null);
  }

  private ObjectNode chunk(ObjectNode delta, @Nullable String reason) {
    var chunk = head();
    var choice = chunk.putArray("choices").addObject().put("index", 0);
    choice.set("delta", delta);
    choice.putNull("logprobs").put("finish_reason", reason);
    return chunk;
  }

  private ObjectNode head() {
    return ChatCompletions.head(projection.response(), "chat.completion.chunk");
  }

  private static void write(ByteArrayOutputStream bytes, ObjectNode chunk) {
    bytes.writeBytes("data: ".getBytes(StandardCharsets.US_ASCII));
    bytes.writeBytes(Json.bytes(chunk));
    bytes.writeBytes("\n\n".getBytes(StandardCharsets.US_ASCII));
  }

  @Override
  public boolean ended(boolean atEnd) {
    return projection.ended();
  }

  @Override
  public byte[] heartbeat() {
    return ResponseEventStream.HEARTBEAT.clone();
  }

  @Override
  public byte[] deleted() {
    var bytes = new ByteArrayOutputStream();
    var error = Json.object();
    error.putObject("error").put("message", "the conversation was deleted").put("code", "deleted");
    write(bytes, error);
    return bytes.toByteArray();
  }
}
