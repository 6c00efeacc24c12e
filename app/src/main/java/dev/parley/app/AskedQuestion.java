package dev.parley.app;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.PendingView;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A question or sign-in of a task, and its text for the terminal: the same in `chat`, `inbox` and
/// `answer`.
///
/// All content may come from a model. Each line is escaped, and lines after the first begin with a
/// bar, so that none can be mistaken for a line of this program.
///
/// @param inputType null for a sign-in
/// @param answerType the type of the question or of the sign-in, in one word
record AskedQuestion(
    ContextId context,
    String id,
    @Nullable AgentTypeId agent,
    @Nullable InputType inputType,
    String answerType,
    String prompt,
    List<JsonNode> options,
    @Nullable JsonNode schema,
    @Nullable String authUrl,
    @Nullable ObjectNode metadata) {

  /// A limit that shows every line of a preview.
  static final int ALL_LINES = Integer.MAX_VALUE;

  /// Longer arguments are shortened if a preview shows the same content.
  private static final int ARGUMENTS_MAX = 2_000;

  AskedQuestion {
    options = List.copyOf(options);
  }

  static AskedQuestion of(Entry entry, InputRequired asked) {
    return new AskedQuestion(
        entry.contextId(),
        asked.inputId().value(),
        agent(entry),
        asked.inputType(),
        asked.inputType().wire(),
        asked.prompt(),
        asked.options() == null ? List.of() : asked.options(),
        asked.schema(),
        null,
        asked.metadata());
  }

  static AskedQuestion of(Entry entry, AuthRequired asked) {
    return new AskedQuestion(
        entry.contextId(),
        asked.authId().value(),
        agent(entry),
        null,
        asked.authType().wire(),
        asked.prompt(),
        List.of(),
        null,
        asked.authUrl(),
        asked.metadata());
  }

  static AskedQuestion of(PendingView item) {
    var sort = item.authType() == null ? item.kind() : item.authType().wire();
    return new AskedQuestion(
        item.contextId(),
        item.id(),
        item.agentId(),
        item.inputType(),
        item.inputType() == null ? sort : item.inputType().wire(),
        item.prompt(),
        item.options() == null ? List.of() : item.options(),
        item.schema(),
        item.authUrl(),
        item.metadata());
  }

  private static @Nullable AgentTypeId agent(Entry entry) {
    return entry.origin() == null ? null : entry.origin().agentId();
  }

  /// The arguments of the tool call to approve; a missing node if the question is not about a call.
  JsonNode arguments() {
    return call().path("arguments");
  }

  /// The complete question as lines of text. A preview is cut after `previewMax` lines; the last
  /// line then reports how many are missing.
  List<String> lines(int previewMax) {
    var lines = new ArrayList<String>();
    var words = TextSanitizer.visible(prompt).lines().toList();
    lines.add("? " + (words.isEmpty() ? "" : words.getFirst()));
    words.stream().skip(1).forEach(line -> lines.add("  | " + line));
    var preview = metadata == null ? "" : metadata.path("preview").asString("");
    if (call().has("toolName") && inputType != null && concernsToolCall(inputType)) {
      var name =
          TextSanitizer.line(
              TextSanitizer.visible(call().path("toolName").asString()), ARGUMENTS_MAX);
      lines.add("  " + name + " " + arguments(preview.isEmpty()));
    }
    var summary = metadata == null ? "" : metadata.path("summary").asString("");
    if (!summary.isBlank()) {
      lines.add("  " + TextSanitizer.visible(summary));
    }
    var shown = TextSanitizer.visible(preview).lines().toList();
    shown.stream().limit(previewMax).forEach(line -> lines.add("  | " + line));
    if (shown.size() > previewMax) {
      lines.add(
          "  %d more lines: ./parley answer %s shows all of them"
              .formatted(shown.size() - previewMax, context));
    }
    for (var i = 0; i < options.size(); i++) {
      var option = options.get(i);
      var text = TextSanitizer.visible(option.isString() ? option.asString() : option.toString());
      lines.add("  " + (i + 1) + ") " + TextSanitizer.line(text, Integer.MAX_VALUE));
    }
    if (schema != null) {
      var fields = FormFields.describe(schema);
      lines.add(FormFields.isForm(schema) ? "  Fields of the answer:" : "  The answer:");
      fields.stream().limit(previewMax).forEach(field -> lines.add("  | " + field));
      if (fields.size() > previewMax) {
        lines.add(
            "  %d more fields: ./parley answer %s shows all of them"
                .formatted(fields.size() - previewMax, context));
      }
    }
    if (authUrl != null) {
      lines.add("  Open " + TextSanitizer.line(TextSanitizer.visible(authUrl), Integer.MAX_VALUE));
    }
    if (agent != null) {
      lines.add("  asked by " + agent);
    }
    return lines;
  }

  /// True if the question is about a tool call. For other questions the call repeats the question.
  private static boolean concernsToolCall(InputType type) {
    return switch (type) {
      case CONFIRMATION, TOOL_EXECUTION -> true;
      case CLARIFICATION, SELECTION, CUSTOM, DATA -> false;
    };
  }

  private String arguments(boolean all) {
    var text = TextSanitizer.visible(arguments().toString());
    return all ? text : TextSanitizer.line(text, ARGUMENTS_MAX);
  }

  private JsonNode call() {
    return metadata == null ? Json.object() : metadata.path("toolCall");
  }
}
