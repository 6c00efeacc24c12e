package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.SendMessageRequest;
import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.http.Sha256;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.task.Rewinder;
import dev.parley.task.Submission;
import dev.parley.task.WhenBusy;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Accepts messages: a message starts a task, answers a task's question, or steers a running task.
final class A2aMessageSender {

  private final ApiDependencies parts;
  private final A2aTaskLookup lookup;
  private final A2aTaskReader taskReader;
  private final QuestionAnswers answers;
  private final PushConfigRegistry pushConfigs;
  private final A2aSettings settings;
  private final MediaTypes mediaTypes;

  A2aMessageSender(
      ApiDependencies parts,
      A2aTaskLookup lookup,
      A2aTaskReader form,
      PushConfigRegistry pushes,
      A2aSettings settings) {
    this.parts = parts;
    this.lookup = lookup;
    this.taskReader = form;
    this.pushConfigs = pushes;
    this.settings = settings;
    this.mediaTypes = new MediaTypes(settings.inputModes());
    this.answers = new QuestionAnswers(parts.tasks());
  }

  /// Appends the message to the log and returns the task that it belongs to.
  ///
  /// @throws A2aException if the message is not valid
  TaskView send(A2aCaller caller, SendMessageRequest request) {
    var message = validated(request);
    if (message.taskId() == null) {
      var context = context(caller, message);
      return startTask(caller, request, context, null);
    }
    var task = lookup.find(caller, Action.WRITE, message.taskId());
    if (message.contextId() != null && !message.contextId().equals(task.contextId().value())) {
      throw A2aException.invalid(
          "message.contextId: task " + task.taskId() + " is in context " + task.contextId());
    }
    return continueTask(caller, request, task);
  }

  /// Rewinds the context and sends the message, in one append.
  TaskView rewindAndSend(
      A2aCaller caller,
      SendMessageRequest request,
      ContextId context,
      Supplier<Rewinder.RewindPlan> rewind) {
    validated(request);
    return startTask(caller, request, context, rewind);
  }

  private A2aMessage validated(SendMessageRequest request) {
    var message = request.message();
    if (message.role() != A2aRole.USER) {
      throw A2aException.invalid("message.role: must be the role user");
    }
    if (!Id.valid(message.messageId())) {
      throw A2aException.invalid("message." + Id.rejection("messageId").getMessage());
    }
    if (message.contextId() != null && !Id.valid(message.contextId())) {
      throw A2aException.invalid("message." + Id.rejection("contextId").getMessage());
    }
    message.parts().forEach(mediaTypes::check);
    if (request.push() != null) {
      pushConfigs.check(request.push());
    }
    return message;
  }

  /// The context that the message names, or else one that is derived from the message, so that a
  /// retry uses the same context.
  private ContextId context(A2aCaller caller, A2aMessage message) {
    if (message.contextId() != null) {
      return new ContextId(message.contextId());
    }
    if (!settings.idempotent()) {
      return new ContextId(parts.ids().get().toString());
    }
    var about = caller.agent() + "\n" + caller.tenant() + "\n" + message.messageId();
    return ContextIdGenerator.of(caller.principal(), "a2a\n" + about);
  }

  private TaskView startTask(
      A2aCaller caller,
      SendMessageRequest request,
      ContextId context,
      @Nullable Supplier<Rewinder.RewindPlan> rewind) {
    var submission = submission(caller, request, context, null);
    // Check before the context is created, so that a rejected message leaves no empty context.
    parts.tasks().check(submission);
    try {
      parts
          .access()
          .create(caller.identity(), context, new ContextCreated(caller.principal(), null, null));
      lookup.check(caller, context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw A2aException.invalid("message.contextId: " + notTheirs.getMessage());
    }
    if (rewind == null) {
      var sent = sentBefore(context, request.message());
      if (sent.isPresent()) {
        return withPushConfig(caller, request, sent.get());
      }
    }
    var accepted =
        submitOnce(
            request.message().messageId(),
            () ->
                rewind == null
                    ? parts.tasks().submit(submission)
                    : parts.tasks().submit(submission, rewind));
    return withPushConfig(caller, request, accepted);
  }

  private static AcceptedMessage submitOnce(
      String messageId, Supplier<AcceptedMessage> submitting) {
    try {
      return submitting.get();
    } catch (Rejection.Conflict reused) {
      throw isIdReuse(reused) ? idReused(messageId) : reused;
    }
  }

  /// The task of this message, if the same message was sent before.
  ///
  /// @throws Rejection.Conflict if a different message of the context has the same id
  private Optional<TaskView> sentBefore(ContextId context, A2aMessage message) {
    if (!settings.idempotent()) {
      return Optional.empty();
    }
    var known = parts.views().message(context, new MessageId(message.messageId()));
    // For an edited message, the log's idempotency guard compares the hash of the original.
    if (known.isEmpty() || known.get().editedAt() != null) {
      return Optional.empty();
    }
    var task = known.get().taskId();
    if (task == null || !isSame(known.get(), message)) {
      throw idReused(message.messageId());
    }
    return parts.views().task(context, task);
  }

  private static boolean isSame(MessageView known, A2aMessage message) {
    return known.role() == Role.USER
        && known.content().equals(MessageText.of(message))
        && Objects.equals(known.parts(), json(message));
  }

  private static @Nullable List<JsonNode> json(A2aMessage message) {
    return isPlainText(message)
        ? null
        : message.parts().stream().map(A2aMessageSender::json).toList();
  }

  /// True if the guard of [#idempotencyGuard] rejected the message.
  static boolean isIdReuse(Rejection.Conflict conflict) {
    return conflict.code().equals("idempotency-key-reused");
  }

  static Rejection.Conflict idReused(String messageId) {
    return new Rejection.Conflict(
        "message-id-reused",
        "message.messageId: "
            + messageId
            + " is already the id of a different message; send this message with a new id");
  }

  private TaskView continueTask(A2aCaller caller, SendMessageRequest request, TaskView task) {
    var fold = taskReader.currentFold(task, caller.version());
    if (settings.idempotent()) {
      if (fold.containsMessage(request.message())) {
        return task;
      }
      if (fold.containsMessageId(request.message().messageId())) {
        throw idReused(request.message().messageId());
      }
      var sent = sentBefore(task.contextId(), request.message());
      if (sent.isPresent()) {
        return withPushConfig(caller, request, sent.get());
      }
    }
    var state = fold.state();
    if (state.terminal()) {
      var ended =
          "This operation is not supported: task "
              + task.taskId()
              + " has ended ("
              + state.kebab()
              + ")";
      throw new A2aException(
          caller.version() == A2aVersion.V1_0
              ? A2aError.UNSUPPORTED_OPERATION
              : A2aError.INVALID_PARAMS,
          ended + ": send the message without taskId to begin another task");
    }
    if (state.interrupted()) {
      answers.answer(caller, request.message(), fold, idempotencyGuard(caller, request));
      return withPushConfig(caller, request, task, false);
    }
    var how = state == A2aState.WORKING ? WhenBusy.STEER : WhenBusy.ENQUEUE;
    if (how == WhenBusy.STEER) {
      // The task may ask a question in the meantime, which the message then answers.
      var _ = caller.answerer().get();
    }
    var submission = submission(caller, request, task.contextId(), how);
    var id = request.message().messageId();
    return withPushConfig(caller, request, submitOnce(id, () -> parts.tasks().submit(submission)));
  }

  private TaskView withPushConfig(
      A2aCaller caller, SendMessageRequest request, AcceptedMessage accepted) {
    var task = task(accepted.contextId(), accepted.taskId().value());
    return withPushConfig(caller, request, task, accepted.messageId().equals(task.messageId()));
  }

  private TaskView withPushConfig(A2aCaller caller, SendMessageRequest request, TaskView task) {
    var id = new MessageId(request.message().messageId());
    return withPushConfig(caller, request, task, id.equals(task.messageId()));
  }

  /// @param began whether the task began with this message: its webhook then receives all updates
  private TaskView withPushConfig(
      A2aCaller caller, SendMessageRequest request, TaskView task, boolean began) {
    if (request.push() != null) {
      if (began) {
        pushConfigs.registerFromStart(caller, task, request.push());
      } else {
        pushConfigs.register(caller, task, request.push());
      }
    }
    return task;
  }

  private TaskView task(ContextId context, String id) {
    return parts
        .views()
        .task(context, new TaskId(id))
        .orElseThrow(() -> new Rejection.NotFound("no such task: " + id));
  }

  private Submission submission(
      A2aCaller caller,
      SendMessageRequest request,
      ContextId context,
      @Nullable WhenBusy whenBusy) {
    var message = request.message();
    var text = MessageText.of(message);
    if (text.isBlank()) {
      throw A2aException.invalid("message.parts: a message needs text, data or a file");
    }
    var metadata = Json.object();
    if (caller.tenant() != null) {
      metadata.putObject(A2aMessageMapper.METADATA_KEY).put("tenant", caller.tenant());
    }
    var taskOptions =
        new Submission.TaskOptions(
            caller.agent(),
            null,
            null,
            null,
            null,
            null,
            whenBusy,
            List.of(),
            metadata.isEmpty() ? null : metadata);
    return new Submission(
        context,
        caller.identity(),
        text,
        json(message),
        taskOptions,
        idempotencyGuard(caller, request),
        labelOfCaller(caller, submissionLabel(context, message)));
  }

  /// Adds the agent that sends the message: its text is not that of a person.
  private static Submission.MessageLabel labelOfCaller(
      A2aCaller caller, Submission.MessageLabel label) {
    var given = label.metadata();
    var metadata = given == null ? Json.object() : given.deepCopy();
    MessageFacts.putCaller(metadata, caller.identity().principal());
    return new Submission.MessageLabel(label.messageId(), metadata);
  }

  /// The label with the sender's message id. If another message of the context has this id, the id
  /// is kept in the metadata instead.
  private Submission.MessageLabel submissionLabel(ContextId context, A2aMessage message) {
    var id = new MessageId(message.messageId());
    var label = messageMetadata(message);
    if (!isIdTaken(context, id)) {
      return new Submission.MessageLabel(id, label);
    }
    var kept =
        label == null
            ? Json.object().putObject(A2aMessageMapper.METADATA_KEY)
            : label.path(A2aMessageMapper.METADATA_KEY);
    var renamed = Json.object();
    renamed.set(A2aMessageMapper.METADATA_KEY, ((ObjectNode) kept).put("messageId", id.value()));
    return new Submission.MessageLabel(null, renamed);
  }

  private boolean isIdTaken(ContextId context, MessageId id) {
    try {
      return parts.views().turnPosition(context, id).isPresent();
    } catch (Rejection.NotFound | Rejection.Gone none) {
      return false;
    }
  }

  private static JsonNode json(A2aPart part) {
    return A2aEncoders.V1_0.part(part);
  }

  /// True if the message has only one text part.
  private static boolean isPlainText(A2aMessage message) {
    return message.parts().size() == 1
        && message.parts().getFirst().content() instanceof A2aPart.TextContent
        && message.parts().getFirst().metadata() == null;
  }

  /// The metadata to store with a message, beyond its parts.
  static @Nullable ObjectNode messageMetadata(A2aMessage message) {
    var kept = Json.object();
    if (message.metadata() != null && !message.metadata().isEmpty()) {
      kept.set("metadata", message.metadata());
    }
    if (!message.extensions().isEmpty()) {
      message.extensions().forEach(kept.putArray("extensions")::add);
    }
    if (!message.referenceTaskIds().isEmpty()) {
      message.referenceTaskIds().forEach(kept.putArray("referenceTaskIds")::add);
    }
    return kept.isEmpty() ? null : Json.object().set(A2aMessageMapper.METADATA_KEY, kept);
  }

  /// A guard that ignores a repeated message and rejects a different message with the same id.
  private AppendGuard idempotencyGuard(A2aCaller caller, SendMessageRequest request) {
    var message = request.message();
    return settings.idempotent()
        ? new AppendGuard.IdempotencyKey(
            caller.principal(), "a2a:" + caller.agent() + ":" + message.messageId(), hash(message))
        : AppendGuard.none();
  }

  /// The hash of the message's parts, without its metadata.
  private static String hash(A2aMessage message) {
    var newline = new byte[] {'\n'};
    var parts =
        message.parts().stream()
            .flatMap(part -> Stream.of(Json.bytes(json(part)), newline))
            .toArray(byte[][]::new);
    return HexFormat.of().formatHex(Sha256.of(parts));
  }

  /// Converts a message to text for an agent.
  static final class MessageText {

    private static final int FILE_MAX = 100_000;

    private MessageText() {}

    /// The message's text, data as JSON, and files: their content if it is text, or else only their
    /// names.
    static String of(A2aMessage message) {
      var pieces = new ArrayList<String>();
      for (var part : message.parts()) {
        var text =
            switch (part.content()) {
              case A2aPart.TextContent(var said) -> said;
              case A2aPart.DataContent(var value) -> value.toString();
              case A2aPart.UrlContent(var url) -> named(part) + " at " + url;
              case A2aPart.RawContent(var base64) ->
                  text(part.mediaType(), base64)
                      .map(content -> named(part) + ":\n" + content)
                      .orElseGet(() -> named(part));
            };
        if (!text.isBlank()) {
          pieces.add(text);
        }
      }
      return String.join("\n", pieces);
    }

    private static String named(A2aPart part) {
      return "The file "
          + (part.filename() == null ? "without a name" : part.filename())
          + (part.mediaType() == null ? "" : " (" + part.mediaType() + ")");
    }

    private static Optional<String> text(@Nullable String mediaType, String base64) {
      var textual =
          mediaType == null
              || mediaType.startsWith("text/")
              || mediaType.contains("json")
              || mediaType.contains("xml");
      if (!textual || base64.length() > FILE_MAX) {
        return Optional.empty();
      }
      try {
        var bytes = Base64.getMimeDecoder().decode(base64);
        return Optional.of(
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
      } catch (IllegalArgumentException | CharacterCodingException notText) {
        return Optional.empty();
      }
    }
  }

  /// The media types that agents read and write: text formats, and the configured types.
  ///
  /// @param configured additional types that agents read; `*/*` is every type
  record MediaTypes(List<String> configured) {

    private static final String ANY = "*/*";

    /// The text types in agent cards.
    private static final List<String> TEXT_TYPES =
        List.of("text/plain", "text/markdown", "text/csv", "text/html", "application/json");

    /// The output modes in agent cards.
    static final List<String> OUTPUT_MODES =
        List.of("text/plain", "text/markdown", "application/json");

    private static final Set<String> TEXTUAL_TYPES =
        Set.of(
            "text",
            "application/json",
            "application/jsonl",
            "application/x-ndjson",
            "application/xml",
            "application/yaml",
            "application/x-yaml",
            "application/toml",
            "application/sql",
            "application/javascript");

    MediaTypes {
      configured = configured.stream().map(type -> type.toLowerCase(Locale.ROOT)).toList();
    }

    /// The input modes in agent cards.
    List<String> inputModes() {
      return Stream.concat(TEXT_TYPES.stream(), configured.stream()).toList();
    }

    /// Rejects a part that agents cannot read.
    void check(A2aPart part) {
      var type = part.mediaType();
      if (type == null) {
        return;
      }
      var plain = type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
      if (!configured.contains(ANY)
          && !configured.contains(plain)
          && !plain.startsWith("text/")
          && !plain.endsWith("+json")
          && !plain.endsWith("+xml")
          && !TEXTUAL_TYPES.contains(plain)) {
        throw new A2aException(
            A2aError.CONTENT_TYPE_NOT_SUPPORTED,
            "Incompatible content types: this agent does not read "
                + type
                + "; it reads "
                + String.join(", ", inputModes()));
      }
    }
  }
}
