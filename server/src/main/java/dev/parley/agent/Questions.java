package dev.parley.agent;

import dev.parley.agent.CallStory.Purpose;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.VisibleText;
import dev.parley.task.Asked;
import dev.parley.task.Run;
import dev.parley.tool.Question;
import dev.parley.tool.SignIn;
import dev.parley.tool.Tool;
import dev.parley.tool.Urgency;
import dev.parley.vault.Place;
import dev.parley.vault.SignInDesk;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.node.ObjectNode;

/// Creates the events for the questions of tool calls.
public final class Questions {

  /// In the metadata of an approval: the hash of the tool and its arguments.
  public static final String HASH = "hash";

  /// In the metadata of an approval: one line that describes the call.
  public static final String SUMMARY = "summary";

  /// The description of a call for the person who approves it.
  record Shown(String summary, @Nullable String preview) {}

  private final Run run;
  private final Duration patience;
  private final SignInDesk desk;

  Questions(Run run, Duration patience, SignInDesk desk) {
    this.run = run;
    this.patience = patience;
    this.desk = desk;
  }

  /// The question whether this call may be made.
  InputRequired approval(ToolCall call, Tool tool, Shown shown) {
    var metadata = about(null, call, Purpose.APPROVAL);
    metadata.set("toolCall", toolCall(call));
    metadata.put(HASH, hash(call.name(), call.arguments()));
    metadata.put("effect", tool.effect().wire());
    metadata.set(Asked.ARGUMENTS_SCHEMA, tool.schema());
    metadata.put(SUMMARY, VisibleText.of(shown.summary()));
    if (shown.preview() != null) {
      metadata.put("preview", VisibleText.of(shown.preview()));
    }
    // The prompt shows hidden characters; the call and its hash stay unchanged.
    return confirmation("May " + run.origin().agentId() + " call " + call.name() + "?", metadata);
  }

  /// The question whether a call, which may have been made before, is to be made again.
  InputRequired doubt(ToolCall call) {
    var metadata = about(null, call, Purpose.DOUBT);
    metadata.set("toolCall", toolCall(call));
    return confirmation(
        "The server stopped while "
            + call.name()
            + " ran, so it may or may not have happened. Run it again?",
        metadata);
  }

  private InputRequired confirmation(String prompt, ObjectNode metadata) {
    return required(
        new Question(InputType.CONFIRMATION, prompt, null, List.of(), true, null, null), metadata);
  }

  /// A question of a tool, before or while it works.
  InputRequired need(ToolCall call, Question question, Purpose purpose) {
    var metadata = about(question.metadata(), call, purpose);
    if (!metadata.has("toolCall")) {
      metadata.set("toolCall", toolCall(call));
    }
    return required(question, metadata);
  }

  private InputRequired required(Question question, ObjectNode metadata) {
    var timeout = question.timeout() == null ? patience : question.timeout();
    metadata.put("timeout", timeout.toSeconds());
    if (!metadata.has(Urgency.KEY)) {
      metadata.put(Urgency.KEY, Urgency.of(run.created().priority()).wire());
    }
    return new InputRequired(
        new InputId(run.sources().ids().get()),
        question.requireUser(),
        question.type(),
        VisibleText.of(question.prompt()),
        question.schema(),
        question.options().isEmpty() ? null : question.options(),
        metadata,
        run.sources().clock().instant().plus(timeout));
  }

  /// A sign-in that a tool needs before it works.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if such a sign-in is not possible
  AuthRequired signIn(ToolCall call, SignIn signIn) throws InterruptedException {
    var metadata = about(signIn.metadata(), call, Purpose.NEED);
    var timeout = signIn.timeout() == null ? patience : signIn.timeout();
    metadata.put("expiresIn", timeout.toSeconds());
    var id = new AuthId(run.sources().ids().get());
    var expiresAt = run.sources().clock().instant().plus(timeout);
    var invitation =
        desk.invite(
            new SignInDesk.Wanted(
                new Place(run.context(), id),
                run.owner(),
                signIn.type(),
                signIn.provider(),
                signIn.scopes(),
                signIn.authUrl(),
                signIn.metadata(),
                expiresAt));
    metadata.setAll(invitation.metadata());
    return new AuthRequired(
        id,
        signIn.type(),
        signIn.provider(),
        signIn.scopes().isEmpty() ? null : signIn.scopes(),
        VisibleText.of(signIn.prompt()),
        invitation.authUrl(),
        metadata,
        expiresAt);
  }

  /// The tool's own metadata, with the call and the purpose added last, so that a tool cannot make
  /// its question look like one about another call.
  private static ObjectNode about(@Nullable ObjectNode told, ToolCall call, Purpose purpose) {
    return (told == null ? Json.object() : told.deepCopy())
        .put(Asked.TOOL_CALL_ID, call.id().value())
        .put(Story.PURPOSE, purpose.name().toLowerCase(Locale.ROOT));
  }

  private static ObjectNode toolCall(ToolCall call) {
    var json =
        Json.object().put(Asked.TOOL_CALL_ID, call.id().value()).put("toolName", call.name());
    json.set("arguments", call.arguments());
    return json;
  }

  /// The hash that binds an approval to the tool and its arguments, independent of the order of
  /// their fields.
  public static String hash(String tool, JsonNode arguments) {
    try {
      var sorted =
          Json.mapper()
              .writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
              .writeValueAsString(Json.mapper().convertValue(arguments, Object.class));
      var digest = MessageDigest.getInstance("SHA-256");
      digest.update(tool.getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      return HexFormat.of().formatHex(digest.digest(sorted.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
