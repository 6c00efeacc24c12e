package dev.parley.cli;

import static dev.parley.cli.JsonLine.count;
import static dev.parley.cli.JsonLine.object;
import static dev.parley.cli.JsonLine.text;
import static dev.parley.cli.JsonLine.textOr;

import dev.parley.cli.Mapping.Part;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the JSON lines of any program, with the fields that a [Mapping] names.
public final class MappedParser implements LineParser {

  private final Mapping mapping;
  private int calls;
  private @Nullable String lastCall;

  public MappedParser(Mapping mapping) {
    this.mapping = mapping;
  }

  @Override
  public List<Said> read(String line) {
    if (line.isBlank()) {
      return List.of();
    }
    var json = JsonLine.parse(line).orElse(null);
    if (json == null) {
      return List.of(new Said.Raw(Said.Why.NOISE));
    }
    var meaning = mapping.meaning(json);
    if (meaning == null) {
      return List.of(new Said.Raw(Said.Why.UNKNOWN));
    }
    var said = new ArrayList<Said>();
    switch (meaning) {
      case TEXT -> {
        var text = text(mapping.find(Part.TEXT, json));
        if (text != null) {
          said.add(new Said.Text(null, text));
        }
      }
      case THOUGHT -> {
        var text = text(mapping.find(Part.THOUGHT, json));
        if (text != null) {
          said.add(new Said.Thinking(null, text));
        }
      }
      case TOOL_START -> said.add(start(json));
      case TOOL_END -> said.add(end(json));
      case RESULT -> result(json, said);
      case ERROR -> said.add(new Said.Trouble(message(mapping.find(Part.ERROR, json))));
      case SESSION -> {
        session(json, said);
        said.add(new Said.Raw(Said.Why.MORE));
      }
      case SKIP -> {}
    }
    return said;
  }

  @Override
  public List<Said> end() {
    return List.of();
  }

  private Said start(ObjectNode json) {
    var id = text(mapping.find(Part.TOOL_ID, json));
    lastCall = id == null ? "call-" + ++calls : id;
    return new Said.ToolCalled(
        null,
        lastCall,
        textOr(mapping.find(Part.TOOL_NAME, json), "tool"),
        object(mapping.find(Part.TOOL_ARGUMENTS, json)),
        null);
  }

  private Said end(ObjectNode json) {
    var id = text(mapping.find(Part.TOOL_ID, json));
    var call = id != null ? id : lastCall == null ? "call-0" : lastCall;
    var error = mapping.find(Part.TOOL_ERROR, json);
    if (!error.isMissingNode() && !error.isNull()) {
      return new Said.ToolEnded(null, call, null, message(error));
    }
    var result = mapping.find(Part.TOOL_RESULT, json);
    return new Said.ToolEnded(null, call, result.isMissingNode() ? Json.object() : result, null);
  }

  private void result(ObjectNode json, List<Said> said) {
    session(json, said);
    var input = count(mapping.find(Part.INPUT_TOKENS, json));
    var output = count(mapping.find(Part.OUTPUT_TOKENS, json));
    var cost = JsonLine.money(mapping.find(Part.COST_USD, json));
    if (input + output > 0 || cost != null) {
      var model = textOr(mapping.find(Part.MODEL, json), "unknown");
      said.add(new Said.Spent(new Usage(model, input, output, null, null, cost)));
    }
    var error = mapping.find(Part.ERROR, json);
    if (error.isMissingNode() || error.isNull() || (error.isBoolean() && !error.asBoolean())) {
      said.add(new Said.Ended(true, text(mapping.find(Part.RESULT, json)), null));
    } else {
      var failure = new Said.Failure(ErrorCode.MODEL_ERROR, message(error), true);
      said.add(new Said.Ended(false, null, failure));
    }
    said.add(new Said.Raw(Said.Why.MORE));
  }

  private void session(ObjectNode json, List<Said> said) {
    var session = text(mapping.find(Part.SESSION, json));
    if (session != null) {
      said.add(new Said.Session(session));
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
