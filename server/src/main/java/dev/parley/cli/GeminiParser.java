package dev.parley.cli;

import static dev.parley.cli.JsonLine.count;
import static dev.parley.cli.JsonLine.object;
import static dev.parley.cli.JsonLine.text;
import static dev.parley.cli.JsonLine.textOr;

import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Parses Gemini CLI's `--output-format stream-json`.
public final class GeminiParser implements LineParser {

  private String model = "gemini";
  private @Nullable String lastError;

  @Override
  public List<Said> read(String line) {
    if (line.isBlank()) {
      return List.of();
    }
    var json = JsonLine.parse(line).orElse(null);
    if (json == null) {
      return List.of(new Said.Raw(Said.Why.NOISE));
    }
    var said = new ArrayList<Said>();
    switch (textOr(json.path("type"), "")) {
      case "init" -> {
        model = textOr(json.path("model"), model);
        var session = text(json.path("session_id"));
        if (session != null) {
          said.add(new Said.Session(session));
        }
        said.add(new Said.Raw(Said.Why.MORE));
      }
      case "message" -> message(json, said);
      case "tool_use" -> {
        var id = text(json.path("tool_id"));
        if (id != null) {
          said.add(
              new Said.ToolCalled(
                  null,
                  id,
                  textOr(json.path("tool_name"), "tool"),
                  object(json.path("parameters")),
                  null));
        }
      }
      case "tool_result" -> toolResult(json, said);
      case "error" -> {
        lastError = textOr(json.path("message"), "error");
        said.add(new Said.Trouble(lastError));
      }
      case "result" -> result(json, said);
      default -> said.add(new Said.Raw(Said.Why.UNKNOWN));
    }
    return said;
  }

  @Override
  public List<Said> end() {
    return List.of();
  }

  private static void message(ObjectNode json, List<Said> said) {
    var content = text(json.path("content"));
    if (content == null || !textOr(json.path("role"), "").equals("assistant")) {
      return;
    }
    if (json.path("thought").asBoolean(false)) {
      said.add(new Said.Thinking(null, content));
      return;
    }
    said.add(new Said.Text(null, content));
    if (!json.path("delta").asBoolean(false)) {
      said.add(new Said.TextEnd(null));
    }
  }

  private static void toolResult(ObjectNode json, List<Said> said) {
    var id = text(json.path("tool_id"));
    if (id == null) {
      return;
    }
    var output = textOr(json.path("output"), "");
    if (textOr(json.path("status"), "success").equals("success")) {
      var result = Json.mapper().getNodeFactory().stringNode(output);
      said.add(new Said.ToolEnded(null, id, result, null));
    } else {
      var error = text(json.path("error").path("message"));
      said.add(
          new Said.ToolEnded(
              null, id, null, error != null ? error : output.isEmpty() ? "failed" : output));
    }
  }

  private void result(ObjectNode json, List<Said> said) {
    var stats = json.path("stats");
    var models = stats.path("models");
    if (models.isObject() && !models.isEmpty()) {
      models.properties().forEach(one -> spent(one.getKey(), object(one.getValue()), said));
    } else if (stats.isObject()) {
      spent(model, object(stats), said);
    }
    if (textOr(json.path("status"), "").equals("success")) {
      said.add(new Said.Ended(true, null, null));
    } else {
      var message = text(json.path("error").path("message"));
      if (message == null) {
        message = lastError == null ? "Gemini CLI reported an error without a message" : lastError;
      }
      said.add(new Said.Ended(false, null, failure(json, message)));
    }
    said.add(new Said.Raw(Said.Why.MORE));
  }

  private static Said.Failure failure(ObjectNode json, String message) {
    return switch (textOr(json.path("error").path("type"), "")) {
      case "FatalAuthenticationError" -> new Said.Failure(ErrorCode.AUTH, message, false);
      case "FatalInputError" -> new Said.Failure(ErrorCode.INVALID_INPUT, message, false);
      case "FatalTurnLimitedError" -> new Said.Failure(ErrorCode.LIMIT, message, false);
      default -> new Said.Failure(ErrorCode.MODEL_ERROR, message, true);
    };
  }

  private static void spent(String name, ObjectNode stats, List<Said> said) {
    var cached = count(stats.path("cached"));
    var input = Math.max(0, count(stats.path("input_tokens")) - cached);
    var output = count(stats.path("output_tokens"));
    if (input + output + cached > 0) {
      said.add(new Said.Spent(new Usage(name, input, output, null, cached, null)));
    }
  }
}
