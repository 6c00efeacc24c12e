package dev.parley.api.openai;

import dev.parley.projection.UsageTotals;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// One response: its state, and its encoding as JSON. For one thread.
final class ResponseRecord {

  static final String CONVERSATION = "conv_";

  private final ContextId context;
  private final ResponseId id;
  private final AgentTypeId agent;
  private final long createdSeconds;
  private final OpenAiFacts facts;
  private final ResponseOutput output;
  private final UsageTotals usage;
  private Status status = Status.QUEUED;
  private long endedSeconds;
  private long endSeq;
  private @Nullable String incompleteReason;
  private @Nullable ErrorReported error;
  private boolean failed;

  /// The states of a response.
  enum Status {
    QUEUED("queued"),
    IN_PROGRESS("in_progress"),
    COMPLETED("completed"),
    INCOMPLETE("incomplete"),
    FAILED("failed"),
    CANCELLED("cancelled");

    final String wire;

    Status(String wire) {
      this.wire = wire;
    }
  }

  /// @param first the entry with which the response begins
  ResponseRecord(
      ContextId context,
      ResponseId id,
      Entry first,
      OpenAiFacts facts,
      ResponseOutput output,
      UsageTotals usage) {
    var origin = first.origin();
    if (origin == null) {
      throw new IllegalArgumentException("a response begins with an entry of its task");
    }
    this.context = context;
    this.id = id;
    this.agent = origin.agentId();
    this.createdSeconds = first.timestamp().getEpochSecond();
    this.facts = facts;
    this.output = output;
    this.usage = usage;
  }

  ContextId context() {
    return context;
  }

  ResponseId id() {
    return id;
  }

  AgentTypeId agent() {
    return agent;
  }

  long createdSeconds() {
    return createdSeconds;
  }

  Status status() {
    return status;
  }

  List<ObjectNode> items() {
    return output.items();
  }

  @Nullable String incompleteReason() {
    return incompleteReason;
  }

  /// The seq of the last entry of an ended response.
  long endSeq() {
    return endSeq;
  }

  boolean ended() {
    return status != Status.QUEUED && status != Status.IN_PROGRESS;
  }

  void start() {
    status = Status.IN_PROGRESS;
  }

  /// The task has ended or waits. `reason` is why the answer is incomplete, if it is.
  void complete(Entry last, @Nullable String reason) {
    incompleteReason =
        switch (reason == null ? "" : reason) {
          case "length" -> "max_output_tokens";
          case "content_filter", "refusal" -> "content_filter";
          default -> null;
        };
    end(last, incompleteReason == null ? Status.COMPLETED : Status.INCOMPLETE);
  }

  void fail(Entry last, @Nullable ErrorReported reported) {
    error = reported;
    failed = true;
    end(last, Status.FAILED);
  }

  void cancel(Entry last) {
    end(last, Status.CANCELLED);
  }

  private void end(Entry last, Status ended) {
    status = ended;
    endedSeconds = last.timestamp().getEpochSecond();
    endSeq = last.position().seq();
  }

  /// The type of the last event. A canceled response has no event of its own in the API.
  String lastEvent() {
    return switch (status) {
      case COMPLETED -> "response.completed";
      case FAILED -> "response.failed";
      case INCOMPLETE, CANCELLED -> "response.incomplete";
      case QUEUED, IN_PROGRESS -> throw new IllegalStateException("the response has not ended");
    };
  }

  /// Why the response failed, as text.
  String errorMessage() {
    return error == null ? "the task failed" : error.message();
  }

  /// Why the response failed, as one of the API's codes.
  String errorCode() {
    return error != null && error.code() == ErrorCode.RATE_LIMITED
        ? "rate_limit_exceeded"
        : "server_error";
  }

  /// The response as JSON.
  ObjectNode json() {
    var json = Json.object().put("id", id.toString()).put("object", "response");
    json.put("created_at", createdSeconds).put("status", status.wire);
    json.put("background", facts.background());
    if (ended()) {
      json.put("completed_at", endedSeconds);
    } else {
      json.putNull("completed_at");
    }
    if (failed) {
      json.putObject("error").put("code", errorCode()).put("message", errorMessage());
    } else {
      json.putNull("error");
    }
    if (incompleteReason != null) {
      json.putObject("incomplete_details").put("reason", incompleteReason);
    } else {
      json.putNull("incomplete_details");
    }
    json.putNull("instructions").putNull("max_output_tokens").put("model", agent.value());
    items().forEach(json.putArray("output")::add);
    json.put("parallel_tool_calls", true);
    json.put("previous_response_id", facts.previous());
    json.putObject("conversation").put("id", CONVERSATION + context);
    settings(json);
    json.set("usage", ended() ? usage() : Json.mapper().nullNode());
    json.set("metadata", facts.client());
    return json;
  }

  /// Settings of OpenAI's models, which the server's configuration decides here.
  private static void settings(ObjectNode json) {
    json.putObject("reasoning").putNull("effort").putNull("summary");
    json.put("store", true).putNull("temperature").putNull("top_p").putNull("user");
    json.putObject("text").putObject("format").put("type", "text");
    json.put("tool_choice", "auto").put("truncation", "disabled").putArray("tools");
  }

  private ObjectNode usage() {
    var total = usage.total();
    var read = total.cacheReadInputTokens();
    var written = total.cacheCreationInputTokens();
    var json = Json.object().put("input_tokens", total.allInputTokens());
    json.putObject("input_tokens_details")
        .put("cached_tokens", read == null ? 0 : read)
        .put("cache_write_tokens", written == null ? 0 : written);
    json.put("output_tokens", total.outputTokens());
    json.putObject("output_tokens_details").put("reasoning_tokens", 0);
    return json.put("total_tokens", total.totalTokens());
  }

  /// The usage in the words of chat completions.
  ObjectNode completionUsage() {
    var used = usage();
    var json = Json.object().put("prompt_tokens", used.path("input_tokens").asLong());
    json.put("completion_tokens", used.path("output_tokens").asLong());
    json.put("total_tokens", used.path("total_tokens").asLong());
    json.set("prompt_tokens_details", used.path("input_tokens_details"));
    json.set("completion_tokens_details", used.path("output_tokens_details"));
    return json;
  }
}
