package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.count;
import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.external.cli.LineMapping.LineField;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the JSON lines of any program, with the fields that a [LineMapping] names.
public final class MappedParser implements LineParser {

  private final LineMapping lineMapping;
  private int calls;
  private @Nullable String lastCall;

  public MappedParser(LineMapping lineMapping) {
    this.lineMapping = lineMapping;
  }

  @Override
  public List<ProgramEvent> read(String line) {
    if (line.isBlank()) {
      return List.of();
    }
    var json = JsonLine.parse(line).orElse(null);
    if (json == null) {
      return List.of(new ProgramEvent.KeptLine(ProgramEvent.RawReason.NOISE));
    }
    var lineType = lineMapping.typeOf(json);
    if (lineType == null) {
      return List.of(new ProgramEvent.KeptLine(ProgramEvent.RawReason.UNKNOWN));
    }
    var said = new ArrayList<ProgramEvent>();
    switch (lineType) {
      case TEXT -> {
        var text = text(lineMapping.find(LineField.TEXT, json));
        if (text != null) {
          said.add(new ProgramEvent.TextDelta(null, text));
        }
      }
      case THOUGHT -> {
        var text = text(lineMapping.find(LineField.THOUGHT, json));
        if (text != null) {
          said.add(new ProgramEvent.ThinkingDelta(null, text));
        }
      }
      case TOOL_START -> said.add(start(json));
      case TOOL_END -> said.add(end(json));
      case RESULT -> result(json, said);
      case ERROR ->
          said.add(new ProgramEvent.ErrorMessage(message(lineMapping.find(LineField.ERROR, json))));
      case SESSION -> {
        session(json, said);
        said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
      }
      case SKIP -> {}
    }
    return said;
  }

  @Override
  public List<ProgramEvent> end() {
    return List.of();
  }

  private ProgramEvent start(ObjectNode json) {
    var id = text(lineMapping.find(LineField.TOOL_ID, json));
    lastCall = id == null ? "call-" + ++calls : id;
    return new ProgramEvent.ToolCalled(
        null,
        lastCall,
        textOr(lineMapping.find(LineField.TOOL_NAME, json), "tool"),
        object(lineMapping.find(LineField.TOOL_ARGUMENTS, json)),
        null);
  }

  private ProgramEvent end(ObjectNode json) {
    var id = text(lineMapping.find(LineField.TOOL_ID, json));
    var call = id != null ? id : lastCall == null ? "call-0" : lastCall;
    var error = lineMapping.find(LineField.TOOL_ERROR, json);
    if (!error.isMissingNode() && !error.isNull()) {
      return new ProgramEvent.ToolEnded(null, call, null, message(error));
    }
    var result = lineMapping.find(LineField.TOOL_RESULT, json);
    return new ProgramEvent.ToolEnded(
        null, call, result.isMissingNode() ? Json.object() : result, null);
  }

  private void result(ObjectNode json, List<ProgramEvent> said) {
    session(json, said);
    var input = count(lineMapping.find(LineField.INPUT_TOKENS, json));
    var output = count(lineMapping.find(LineField.OUTPUT_TOKENS, json));
    var cost = JsonLine.money(lineMapping.find(LineField.COST_USD, json));
    if (input + output > 0 || cost != null) {
      var model = textOr(lineMapping.find(LineField.MODEL, json), "unknown");
      said.add(new ProgramEvent.UsageReported(new Usage(model, input, output, null, null, cost)));
    }
    var error = lineMapping.find(LineField.ERROR, json);
    if (error.isMissingNode() || error.isNull() || (error.isBoolean() && !error.asBoolean())) {
      said.add(
          new ProgramEvent.TurnEnded(true, text(lineMapping.find(LineField.RESULT, json)), null));
    } else {
      var turnFailure = new ProgramEvent.TurnFailure(ErrorCode.MODEL_ERROR, message(error), true);
      said.add(new ProgramEvent.TurnEnded(false, null, turnFailure));
    }
    said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
  }

  private void session(ObjectNode json, List<ProgramEvent> said) {
    var session = text(lineMapping.find(LineField.SESSION, json));
    if (session != null) {
      said.add(new ProgramEvent.SessionKnown(session));
    }
  }

  private static String message(JsonNode error) {
    var message = text(error.path("message"));
    if (message != null) {
      return message;
    }
    return error.isString() ? error.asString() : "the program reported an error: " + error;
  }
}
