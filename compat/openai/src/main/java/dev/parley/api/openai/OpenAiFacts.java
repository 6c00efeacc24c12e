package dev.parley.api.openai;

import dev.parley.protocol.AnswerFacts;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskFacts;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What this API stores with a task or an answer: how the client asked for the response.
///
/// @param background the client does not wait for the response
/// @param previous the id of the response that it continues
/// @param client the client's own metadata
/// @param forms how the client wants to be asked
record OpenAiFacts(
    boolean background, @Nullable String previous, ObjectNode client, QuestionForms forms) {

  /// Responses of tasks that other APIs started.
  static final OpenAiFacts NONE =
      new OpenAiFacts(false, null, Json.object(), QuestionForms.AS_TEXT);

  private static final String KEY = "openai";
  private static final String BACKGROUND = "background";
  private static final String PREVIOUS = "previousResponseId";
  private static final String CLIENT = "metadata";
  private static final String FORMS = "questions";
  private static final String ITEM = "item";

  /// How a client receives questions for a person: as text, unless it declares another form.
  ///
  /// @param mcpApprovals approvals are items of type `mcp_approval_request`
  /// @param askFunction questions are calls of the client's function `ask_user`
  /// @param approveFunction approvals are calls of the client's function `approve_tool_call`
  record QuestionForms(boolean mcpApprovals, boolean askFunction, boolean approveFunction) {

    static final QuestionForms AS_TEXT = new QuestionForms(false, false, false);

    private static final String MCP = "mcp";
    private static final String ASK = "ask";
    private static final String APPROVE = "approve";

    private ObjectNode json() {
      return Json.object()
          .put(MCP, mcpApprovals)
          .put(ASK, askFunction)
          .put(APPROVE, approveFunction);
    }

    private static QuestionForms of(JsonNode json) {
      return new QuestionForms(
          json.path(MCP).asBoolean(false),
          json.path(ASK).asBoolean(false),
          json.path(APPROVE).asBoolean(false));
    }
  }

  static OpenAiFacts of(TaskFacts facts) {
    return facts.extension(KEY).map(OpenAiFacts::of).orElse(NONE);
  }

  static Optional<OpenAiFacts> of(AnswerFacts facts) {
    return facts.extension(KEY).map(OpenAiFacts::of);
  }

  /// The input item with which the client sent this answer, if it came through this API.
  static Optional<ObjectNode> item(AnswerFacts facts) {
    return facts
        .extension(KEY)
        .flatMap(
            ours ->
                ours.path(ITEM) instanceof ObjectNode item ? Optional.of(item) : Optional.empty());
  }

  private static OpenAiFacts of(ObjectNode json) {
    return new OpenAiFacts(
        json.path(BACKGROUND).asBoolean(false),
        json.path(PREVIOUS).asString(null),
        json.path(CLIENT) instanceof ObjectNode client ? client : Json.object(),
        QuestionForms.of(json.path(FORMS)));
  }

  /// The metadata for a task.
  ObjectNode metadata() {
    return Json.object().set(KEY, json());
  }

  /// The metadata for an answer that the client sent as this input item.
  ObjectNode metadata(ObjectNode item) {
    return Json.object().set(KEY, json().set(ITEM, item));
  }

  private ObjectNode json() {
    var json = Json.object().put(BACKGROUND, background);
    Json.putPresent(json, PREVIOUS, previous);
    if (!client.isEmpty()) {
      json.set(CLIENT, client);
    }
    return json.set(FORMS, forms.json());
  }

  OpenAiFacts withPrevious(@Nullable String id) {
    return new OpenAiFacts(background, id, client, forms);
  }
}
