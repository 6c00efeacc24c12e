package dev.parley.protocol;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of `input-required` and `auth-required` says. The keys are known only here.
public final class QuestionFacts {

  private static final String TOOL_CALL_ID = "toolCallId";
  private static final String TOOL_CALL = "toolCall";
  private static final String TOOL_NAME = "toolName";
  private static final String ARGUMENTS = "arguments";
  private static final String ARGUMENTS_SCHEMA = "argumentsSchema";
  private static final String PURPOSE = "purpose";
  private static final String HASH = "hash";
  private static final String EFFECT = "effect";
  private static final String SUMMARY = "summary";
  private static final String PREVIEW = "preview";
  private static final String WHEN_LAPSED = "whenLapsed";
  private static final String URGENCY = "urgency";
  private static final String PROVIDER = "provider";
  private static final String TIMEOUT = "timeout";

  private final MetadataFields fields;

  private QuestionFacts(@Nullable ObjectNode metadata) {
    fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a question or a sign-in request.
  public static QuestionFacts of(@Nullable ObjectNode metadata) {
    return new QuestionFacts(metadata);
  }

  /// The tool call that a question is about. An external agent may not know its id.
  public record AskedCall(@Nullable String id, @Nullable String toolName, ObjectNode arguments) {

    private static AskedCall of(ObjectNode json) {
      return new AskedCall(
          json.path(TOOL_CALL_ID).asString(null),
          json.path(TOOL_NAME).asString(null),
          json.path(ARGUMENTS) instanceof ObjectNode arguments ? arguments : Json.object());
    }

    private ObjectNode json() {
      var json = Json.object();
      if (id != null) {
        json.put(TOOL_CALL_ID, id);
      }
      return json.put(TOOL_NAME, toolName).set(ARGUMENTS, arguments);
    }
  }

  /// The tool call that asks.
  public Optional<ToolCallId> toolCallId() {
    return fields.id(TOOL_CALL_ID, ToolCallId::new);
  }

  /// The tool call that the question is about.
  public Optional<AskedCall> toolCall() {
    return fields.object(TOOL_CALL).map(AskedCall::of);
  }

  /// The schema against which edited arguments are validated.
  public Optional<JsonNode> argumentsSchema() {
    return Optional.of(fields.value(ARGUMENTS_SCHEMA)).filter(schema -> !schema.isMissingNode());
  }

  /// The purpose of the question.
  public Optional<QuestionPurpose> purpose() {
    return fields.text(PURPOSE).flatMap(name -> WireName.find(QuestionPurpose.class, name));
  }

  /// True if a tool call asks while it runs.
  public boolean live() {
    return purpose().filter(QuestionPurpose.LIVE::equals).isPresent();
  }

  /// The hash of the tool and its arguments, to which an approval is bound.
  public Optional<String> hash() {
    return fields.text(HASH);
  }

  /// What happens to the task if nobody answers, as a wire name.
  public Optional<String> whenLapsed() {
    return fields.text(WHEN_LAPSED);
  }

  /// The fields that only the kind of agent of that name writes and reads.
  public Optional<ObjectNode> extension(String agent) {
    return fields.object(agent);
  }

  /// The fields that an approval dialog shows.
  public ObjectNode shown() {
    var shown = Json.object();
    for (var key : List.of(TOOL_CALL, SUMMARY, PREVIEW, EFFECT, HASH, PURPOSE)) {
      if (fields.has(key)) {
        shown.set(key, fields.value(key));
      }
    }
    return shown;
  }

  /// Adds the tool call that asks.
  public static void putToolCallId(ObjectNode metadata, ToolCallId call) {
    metadata.put(TOOL_CALL_ID, call.value());
  }

  /// Adds the tool call that the question is about, unless the metadata already has one.
  public static void putToolCall(ObjectNode metadata, AskedCall call) {
    if (!metadata.has(TOOL_CALL)) {
      metadata.set(TOOL_CALL, call.json());
    }
  }

  /// Adds the purpose.
  public static void putPurpose(ObjectNode metadata, QuestionPurpose purpose) {
    metadata.put(PURPOSE, purpose.wire());
  }

  /// Adds the schema against which edited arguments are validated.
  public static void putArgumentsSchema(ObjectNode metadata, JsonNode schema) {
    metadata.set(ARGUMENTS_SCHEMA, schema);
  }

  /// Adds the hash to which the approval is bound, and the effect of a second call.
  public static void putHash(ObjectNode metadata, String hash, String effect) {
    metadata.put(HASH, hash).put(EFFECT, effect);
  }

  /// Adds one line that describes the call.
  public static void putSummary(ObjectNode metadata, String summary) {
    metadata.put(SUMMARY, summary);
  }

  /// Adds a preview of the call's effect.
  public static void putPreview(ObjectNode metadata, String preview) {
    metadata.put(PREVIEW, preview);
  }

  /// Adds what happens to the task if nobody answers.
  public static void putWhenLapsed(ObjectNode metadata, WireName choice) {
    metadata.put(WHEN_LAPSED, choice.wire());
  }

  /// Adds the kind of agent or tool that asks.
  public static void putProvider(ObjectNode metadata, String provider) {
    metadata.put(PROVIDER, provider);
  }

  /// Adds how long the question stays open.
  public static void putTimeout(ObjectNode metadata, Duration timeout) {
    metadata.put(TIMEOUT, timeout.toSeconds());
  }

  /// Adds how soon a person should answer, unless the metadata already has it.
  public static void putUrgency(ObjectNode metadata, WireName urgency) {
    if (!metadata.has(URGENCY)) {
      metadata.put(URGENCY, urgency.wire());
    }
  }
}
