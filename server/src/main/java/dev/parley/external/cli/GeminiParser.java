package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.count;
import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.external.cli.ProgramEvent.RawReason;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Parses Gemini CLI's `--output-format stream-json`.
final class GeminiParser extends LineParser {

  private String model = "gemini";
  private @Nullable String lastError;

  @Override
  void parse(ObjectNode json) {
    switch (textOr(json.path("type"), "")) {
      case "init" -> {
        model = textOr(json.path("model"), model);
        addSession(text(json.path("session_id")));
        keep(RawReason.PARTLY_MAPPED);
      }
      case "message" -> message(json);
      case "tool_use" -> {
        var id = text(json.path("tool_id"));
        if (id != null) {
          addCall(id, textOr(json.path("tool_name"), "tool"), object(json.path("parameters")));
        }
      }
      case "tool_result" -> toolResult(json);
      case "error" -> {
        lastError = textOr(json.path("message"), "error");
        addError(lastError);
      }
      case "result" -> result(json);
      default -> keep(RawReason.UNKNOWN);
    }
  }

  private void message(ObjectNode json) {
    var content = text(json.path("content"));
    if (content == null || !textOr(json.path("role"), "").equals("assistant")) {
      return;
    }
    if (json.path("thought").asBoolean(false)) {
      addThinking(content);
      return;
    }
    addText(content);
    if (!json.path("delta").asBoolean(false)) {
      add(new ProgramEvent.TextEnd(null));
    }
  }

  private void toolResult(ObjectNode json) {
    var id = text(json.path("tool_id"));
    if (id == null) {
      return;
    }
    var output = textOr(json.path("output"), "");
    if (textOr(json.path("status"), "success").equals("success")) {
      add(returned(id, textNode(output)));
    } else {
      var error = text(json.path("error").path("message"));
      add(failed(id, error != null ? error : output.isEmpty() ? "failed" : output));
    }
  }

  private void result(ObjectNode json) {
    var stats = json.path("stats");
    var models = stats.path("models");
    if (models.isObject() && !models.isEmpty()) {
      models.properties().forEach(one -> addUsage(one.getKey(), object(one.getValue())));
    } else if (stats.isObject()) {
      addUsage(model, object(stats));
    }
    if (textOr(json.path("status"), "").equals("success")) {
      turnCompleted(null);
    } else {
      var message = text(json.path("error").path("message"));
      if (message == null) {
        message = lastError == null ? "Gemini CLI reported an error without a message" : lastError;
      }
      turnFailed(json, message);
    }
  }

  private void turnFailed(ObjectNode json, String message) {
    switch (textOr(json.path("error").path("type"), "")) {
      case "FatalAuthenticationError" -> turnFailed(ErrorCode.AUTH, message, false);
      case "FatalInputError" -> turnFailed(ErrorCode.INVALID_INPUT, message, false);
      case "FatalTurnLimitedError" -> turnFailed(ErrorCode.LIMIT, message, false);
      default -> turnFailed(ErrorCode.MODEL_ERROR, message, true);
    }
  }

  private void addUsage(String name, ObjectNode stats) {
    var cached = count(stats.path("cached"));
    var input = Math.max(0, count(stats.path("input_tokens")) - cached);
    var output = count(stats.path("output_tokens"));
    if (input + output + cached > 0) {
      add(new ProgramEvent.UsageReported(new Usage(name, input, output, null, cached, null)));
    }
  }
}
