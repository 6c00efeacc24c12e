package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.count;
import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

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
  public List<ProgramEvent> read(String line) {
    if (line.isBlank()) {
      return List.of();
    }
    var json = JsonLine.parse(line).orElse(null);
    if (json == null) {
      return List.of(new ProgramEvent.KeptLine(ProgramEvent.RawReason.NOISE));
    }
    var said = new ArrayList<ProgramEvent>();
    switch (textOr(json.path("type"), "")) {
      case "init" -> {
        model = textOr(json.path("model"), model);
        var session = text(json.path("session_id"));
        if (session != null) {
          said.add(new ProgramEvent.SessionKnown(session));
        }
        said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
      }
      case "message" -> message(json, said);
      case "tool_use" -> {
        var id = text(json.path("tool_id"));
        if (id != null) {
          said.add(
              new ProgramEvent.ToolCalled(
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
        said.add(new ProgramEvent.ErrorMessage(lastError));
      }
      case "result" -> result(json, said);
      default -> said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.UNKNOWN));
    }
    return said;
  }

  @Override
  public List<ProgramEvent> end() {
    return List.of();
  }

  private static void message(ObjectNode json, List<ProgramEvent> said) {
    var content = text(json.path("content"));
    if (content == null || !textOr(json.path("role"), "").equals("assistant")) {
      return;
    }
    if (json.path("thought").asBoolean(false)) {
      said.add(new ProgramEvent.ThinkingDelta(null, content));
      return;
    }
    said.add(new ProgramEvent.TextDelta(null, content));
    if (!json.path("delta").asBoolean(false)) {
      said.add(new ProgramEvent.TextEnd(null));
    }
  }

  private static void toolResult(ObjectNode json, List<ProgramEvent> said) {
    var id = text(json.path("tool_id"));
    if (id == null) {
      return;
    }
    var output = textOr(json.path("output"), "");
    if (textOr(json.path("status"), "success").equals("success")) {
      var result = Json.mapper().getNodeFactory().stringNode(output);
      said.add(new ProgramEvent.ToolEnded(null, id, result, null));
    } else {
      var error = text(json.path("error").path("message"));
      said.add(
          new ProgramEvent.ToolEnded(
              null, id, null, error != null ? error : output.isEmpty() ? "failed" : output));
    }
  }

  private void result(ObjectNode json, List<ProgramEvent> said) {
    var stats = json.path("stats");
    var models = stats.path("models");
    if (models.isObject() && !models.isEmpty()) {
      models.properties().forEach(one -> addUsage(one.getKey(), object(one.getValue()), said));
    } else if (stats.isObject()) {
      addUsage(model, object(stats), said);
    }
    if (textOr(json.path("status"), "").equals("success")) {
      said.add(new ProgramEvent.TurnEnded(true, null, null));
    } else {
      var message = text(json.path("error").path("message"));
      if (message == null) {
        message = lastError == null ? "Gemini CLI reported an error without a message" : lastError;
      }
      said.add(new ProgramEvent.TurnEnded(false, null, failure(json, message)));
    }
    said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
  }

  private static ProgramEvent.TurnFailure failure(ObjectNode json, String message) {
    return switch (textOr(json.path("error").path("type"), "")) {
      case "FatalAuthenticationError" ->
          new ProgramEvent.TurnFailure(ErrorCode.AUTH, message, false);
      case "FatalInputError" ->
          new ProgramEvent.TurnFailure(ErrorCode.INVALID_INPUT, message, false);
      case "FatalTurnLimitedError" -> new ProgramEvent.TurnFailure(ErrorCode.LIMIT, message, false);
      default -> new ProgramEvent.TurnFailure(ErrorCode.MODEL_ERROR, message, true);
    };
  }

  private static void addUsage(String name, ObjectNode stats, List<ProgramEvent> said) {
    var cached = count(stats.path("cached"));
    var input = Math.max(0, count(stats.path("input_tokens")) - cached);
    var output = count(stats.path("output_tokens"));
    if (input + output + cached > 0) {
      said.add(new ProgramEvent.UsageReported(new Usage(name, input, output, null, cached, null)));
    }
  }
}
