package dev.parley.agent;

import dev.parley.auth.SignInId;
import dev.parley.auth.SignInRequests;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.VisibleText;
import dev.parley.task.TaskRun;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolQuestion;
import dev.parley.tool.ToolQuestion.Urgency;
import dev.parley.tool.ToolResult.ToolSignIn;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.node.ObjectNode;

/// Creates the events that ask a person, for all kinds of agent. [TaskQuestion] reads the answers.
public final class QuestionFactory {

  /// The description of a call for the person who approves it.
  record CallPreview(String summary, @Nullable String preview) {}

  /// A call that an agent outside the server wants to make.
  public record ExternalCall(String tool, ObjectNode arguments, boolean editable, String summary) {}

  private final TaskRun taskRun;
  private final Duration defaultTimeout;
  private final SignInRequests signInRequests;
  private final @Nullable String provider;

  /// `provider` is the program or protocol that asks; null if the server's own agents and tools ask.
  public QuestionFactory(
      TaskRun taskRun, Duration patience, SignInRequests desk, @Nullable String provider) {
    this.taskRun = taskRun;
    this.defaultTimeout = patience;
    this.signInRequests = desk;
    this.provider = provider;
  }

  /// The question whether this call may be made. `reason` says why a person is asked, if it is not
  /// the tool.
  InputRequired approval(
      ToolCall call, Tool tool, CallPreview callPreview, Optional<String> reason) {
    var metadata = callMetadata(null, call, QuestionPurpose.APPROVAL);
    QuestionFacts.putToolCall(metadata, askedCall(call));
    QuestionFacts.putHash(metadata, hash(call.name(), call.arguments()), tool.effect().wire());
    QuestionFacts.putArgumentsSchema(metadata, tool.schema());
    QuestionFacts.putSummary(metadata, VisibleText.of(callPreview.summary()));
    if (callPreview.preview() != null) {
      QuestionFacts.putPreview(metadata, VisibleText.of(callPreview.preview()));
    }
    return confirmation(mayCall(call.name()) + reason.map(why -> " " + why).orElse(""), metadata);
  }

  /// The question whether a call of this tool may be made, which `metadata` describes.
  public InputRequired approval(String tool, ObjectNode metadata) {
    // The prompt shows hidden characters; the call and its hash stay unchanged.
    return confirmation(mayCall(tool), metadata);
  }

  private String mayCall(String tool) {
    return "May " + taskRun.origin().agentId() + " call " + tool + "?";
  }

  /// Describes a call of an agent outside the server. `id` is the id of the call here, if it has
  /// one. An approval may change the arguments only if they are `editable`.
  public static void putExternalCall(
      ObjectNode metadata, @Nullable ToolCallId id, ExternalCall call) {
    QuestionFacts.putPurpose(metadata, QuestionPurpose.APPROVAL);
    QuestionFacts.putToolCall(
        metadata,
        new QuestionFacts.AskedCall(id == null ? null : id.value(), call.tool(), call.arguments()));
    if (id != null) {
      QuestionFacts.putToolCallId(metadata, id);
    }
    if (!call.editable()) {
      QuestionFacts.putArgumentsSchema(metadata, Json.object().set("const", call.arguments()));
    }
    QuestionFacts.putHash(metadata, hash(call.tool(), call.arguments()), "at-most-once");
    QuestionFacts.putSummary(metadata, call.summary());
  }

  /// The question whether a call, which may have been made before, is to be made again.
  InputRequired doubt(ToolCall call) {
    var metadata = callMetadata(null, call, QuestionPurpose.DOUBT);
    QuestionFacts.putToolCall(metadata, askedCall(call));
    return confirmation(
        "The server stopped while "
            + call.name()
            + " ran, so it may or may not have happened. Run it again?",
        metadata);
  }

  private InputRequired confirmation(String prompt, ObjectNode metadata) {
    return required(
        new ToolQuestion(InputType.CONFIRMATION, prompt, null, List.of(), true, null, null),
        metadata);
  }

  /// A question of a tool, before or while it works.
  InputRequired need(ToolCall call, ToolQuestion toolQuestion, QuestionPurpose questionPurpose) {
    var metadata = callMetadata(toolQuestion.metadata(), call, questionPurpose);
    QuestionFacts.putToolCall(metadata, askedCall(call));
    return required(toolQuestion, metadata);
  }

  /// A question that is not about a tool call.
  public InputRequired question(ToolQuestion toolQuestion) {
    var metadata = toolQuestion.metadata();
    return required(toolQuestion, metadata == null ? Json.object() : metadata.deepCopy());
  }

  private InputRequired required(ToolQuestion toolQuestion, ObjectNode metadata) {
    var timeout = toolQuestion.timeout() == null ? defaultTimeout : toolQuestion.timeout();
    if (provider != null) {
      QuestionFacts.putProvider(metadata, provider);
    }
    QuestionFacts.putTimeout(metadata, timeout);
    QuestionFacts.putUrgency(metadata, Urgency.of(taskRun.created().priority()));
    return new InputRequired(
        new InputId(taskRun.sources().ids().get()),
        toolQuestion.requireUser(),
        toolQuestion.type(),
        VisibleText.of(toolQuestion.prompt()),
        toolQuestion.schema(),
        toolQuestion.options().isEmpty() ? null : toolQuestion.options(),
        metadata,
        taskRun.sources().time().instant().plus(timeout));
  }

  /// A sign-in that a tool needs before it works.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if such a sign-in is not possible
  AuthRequired signIn(ToolCall call, ToolSignIn toolSignIn) throws InterruptedException {
    return signIn(toolSignIn, callMetadata(toolSignIn.metadata(), call, QuestionPurpose.NEED));
  }

  /// A sign-in that is not for a tool call, with this metadata.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if such a sign-in is not possible
  public AuthRequired signIn(ToolSignIn toolSignIn, ObjectNode metadata)
      throws InterruptedException {
    var timeout = toolSignIn.timeout() == null ? defaultTimeout : toolSignIn.timeout();
    metadata.put("expiresIn", timeout.toSeconds());
    var id = new AuthId(taskRun.sources().ids().get());
    var expiresAt = taskRun.sources().time().instant().plus(timeout);
    var signInInstructions =
        signInRequests.prepare(
            new SignInRequests.SignInDetails(
                new SignInId(taskRun.context(), id),
                taskRun.owner(),
                toolSignIn.type(),
                toolSignIn.provider(),
                toolSignIn.scopes(),
                toolSignIn.authUrl(),
                toolSignIn.metadata(),
                expiresAt));
    metadata.setAll(signInInstructions.metadata());
    return new AuthRequired(
        id,
        toolSignIn.type(),
        toolSignIn.provider(),
        toolSignIn.scopes().isEmpty() ? null : toolSignIn.scopes(),
        VisibleText.of(toolSignIn.prompt()),
        signInInstructions.authUrl(),
        metadata,
        expiresAt);
  }

  /// The tool's own metadata, with the call and the purpose added last, so that a tool cannot make
  /// its question look like one about another call.
  private static ObjectNode callMetadata(
      @Nullable ObjectNode told, ToolCall call, QuestionPurpose questionPurpose) {
    var metadata = told == null ? Json.object() : told.deepCopy();
    QuestionFacts.putToolCallId(metadata, call.id());
    QuestionFacts.putPurpose(metadata, questionPurpose);
    return metadata;
  }

  private static QuestionFacts.AskedCall askedCall(ToolCall call) {
    return new QuestionFacts.AskedCall(call.id().value(), call.name(), call.arguments());
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
