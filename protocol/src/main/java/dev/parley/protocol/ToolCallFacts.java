package dev.parley.protocol;

import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What the metadata of `tool-start`, `tool-progress` and `tool-complete` says. The keys are known
/// only here.
public final class ToolCallFacts {

  /// The provider of tools that the client runs.
  public static final String CLIENT = "client";

  private static final String PROVIDER = "provider";
  private static final String CALL_ID = "callId";
  private static final String EFFECT = "effect";
  private static final String CONCURRENT = "concurrent";
  private static final String EDITED = "edited";
  private static final String INVOCATION_ID = "invocationId";
  private static final String ATTEMPT = "attempt";
  private static final String ORIGIN = "origin";
  private static final String RULE = "rule";

  private final MetadataFields fields;

  private ToolCallFacts(@Nullable ObjectNode metadata) {
    fields = new MetadataFields(metadata);
  }

  /// The facts in the metadata of a tool call's event.
  public static ToolCallFacts of(@Nullable ObjectNode metadata) {
    return new ToolCallFacts(metadata);
  }

  /// The client runs the tool.
  public boolean runByClient() {
    return fields.text(PROVIDER).filter(CLIENT::equals).isPresent();
  }

  /// The id that an external agent gave the call.
  public Optional<String> externalId() {
    return Optional.of(fields.value(CALL_ID)).filter(id -> id.isString()).map(id -> id.asString());
  }

  /// The id that the subtasks of the call share.
  public Optional<InvocationId> invocationId() {
    return fields.id(INVOCATION_ID, InvocationId::new);
  }

  /// The number of the attempt that starts, if this progress starts one.
  public OptionalInt attempt() {
    return fields.has(ATTEMPT)
        ? OptionalInt.of(fields.value(ATTEMPT).asInt())
        : OptionalInt.empty();
  }

  /// Where the text of the result comes from, unless it can be trusted. Events of versions before
  /// 0.2 do not say it.
  public Optional<TextOrigin> origin() {
    return fields.object(ORIGIN).flatMap(TextOrigin::of);
  }

  /// Adds where the text of the result comes from.
  public static void putOrigin(ObjectNode metadata, TextOrigin origin) {
    metadata.set(ORIGIN, origin.json());
  }

  /// The metadata of a call of this server's tool. `effect` is null if the tool is unknown.
  public static ObjectNode ofStart(String provider, boolean concurrent, @Nullable String effect) {
    var metadata = Json.object().put(PROVIDER, provider).put(CONCURRENT, concurrent);
    if (effect != null) {
      metadata.put(EFFECT, effect);
    }
    return metadata;
  }

  /// The metadata of a call that an external agent makes itself.
  public static ObjectNode ofExternalStart(String provider, String externalId) {
    return Json.object()
        .put(PROVIDER, provider)
        .put(CALL_ID, externalId)
        .put(EFFECT, "at-most-once")
        .put(CONCURRENT, true);
  }

  /// The approval rule that allowed the call, if one did.
  public Optional<String> rule() {
    return fields.text(RULE);
  }

  /// Adds the approval rule that allowed the call.
  public static void putRule(ObjectNode metadata, String rule) {
    metadata.put(RULE, rule);
  }

  /// Marks a call whose arguments a person edited.
  public static void putEdited(ObjectNode metadata) {
    metadata.put(EDITED, true);
  }

  /// Adds the id that the subtasks of the call share.
  public static void putInvocationId(ObjectNode metadata, InvocationId invocation) {
    metadata.put(INVOCATION_ID, invocation.value());
  }

  /// The metadata of a progress that starts another attempt.
  public static ObjectNode ofAttempt(int attempt) {
    return Json.object().put(ATTEMPT, attempt);
  }
}
