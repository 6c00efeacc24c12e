package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.count;
import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.external.cli.LineMapping.LineField;
import dev.parley.external.cli.ProgramEvent.RawReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the JSON lines of any program, with the fields that a [LineMapping] names.
final class MappedParser extends LineParser {

  private final LineMapping lineMapping;
  private int calls;
  private @Nullable String lastCall;

  MappedParser(LineMapping lineMapping) {
    this.lineMapping = lineMapping;
  }

  @Override
  void parse(ObjectNode json) {
    switch (lineMapping.typeOf(json)) {
      case null -> keep(RawReason.UNKNOWN);
      case TEXT -> addText(text(field(LineField.TEXT, json)));
      case THOUGHT -> addThinking(text(field(LineField.THOUGHT, json)));
      case TOOL_START -> start(json);
      case TOOL_END -> add(end(json));
      case RESULT -> result(json);
      case ERROR -> addError(message(field(LineField.ERROR, json)));
      case SESSION -> {
        addSession(text(field(LineField.SESSION, json)));
        keep(RawReason.PARTLY_MAPPED);
      }
      case SKIP -> {}
    }
  }

  private JsonNode field(LineField field, ObjectNode json) {
    return lineMapping.find(field, json);
  }

  private void start(ObjectNode json) {
    var id = text(field(LineField.TOOL_ID, json));
    lastCall = id == null ? "call-" + ++calls : id;
    var tool = textOr(field(LineField.TOOL_NAME, json), "tool");
    addCall(lastCall, tool, object(field(LineField.TOOL_ARGUMENTS, json)));
  }

  private ProgramEvent end(ObjectNode json) {
    var id = text(field(LineField.TOOL_ID, json));
    var call = id != null ? id : lastCall == null ? "call-0" : lastCall;
    var error = field(LineField.TOOL_ERROR, json);
    if (!error.isMissingNode() && !error.isNull()) {
      return failed(call, message(error));
    }
    var result = field(LineField.TOOL_RESULT, json);
    return returned(call, result.isMissingNode() ? Json.object() : result);
  }

  private void result(ObjectNode json) {
    addSession(text(field(LineField.SESSION, json)));
    var input = count(field(LineField.INPUT_TOKENS, json));
    var output = count(field(LineField.OUTPUT_TOKENS, json));
    var cost = JsonLine.money(field(LineField.COST_USD, json));
    if (input + output > 0 || cost != null) {
      var model = textOr(field(LineField.MODEL, json), "unknown");
      add(new ProgramEvent.UsageReported(new Usage(model, input, output, null, null, cost)));
    }
    var error = field(LineField.ERROR, json);
    if (error.isMissingNode() || error.isNull() || (error.isBoolean() && !error.asBoolean())) {
      turnCompleted(text(field(LineField.RESULT, json)));
    } else {
      turnFailed(ErrorCode.MODEL_ERROR, message(error), true);
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
