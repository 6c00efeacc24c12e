package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.SendRequest;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireForms;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireRole;
import dev.parley.a2a.WireState;
import dev.parley.door.DoorParts;
import dev.parley.door.NewContextId;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Accepted;
import dev.parley.task.Rewinder;
import dev.parley.task.Submission;
import dev.parley.task.WhenBusy;
import dev.parley.view.MessageView;
import dev.parley.view.TaskView;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Accepts messages: a message starts a task, answers a task's question, or steers a running task.
final class Sending {

  private final DoorParts parts;
  private final Lookup lookup;
  private final TaskForm form;
  private final Answering answering;
  private final PushDesk pushes;
  private final A2aSettings settings;
  private final Media media;

  Sending(DoorParts parts, Lookup lookup, TaskForm form, PushDesk pushes, A2aSettings settings) {
    this.parts = parts;
    this.lookup = lookup;
    this.form = form;
    this.pushes = pushes;
    this.settings = settings;
    this.media = new Media(settings.inputModes());
    this.answering = new Answering(parts.tasks());
  }

  /// Appends the message to the log and returns the task that it belongs to.
  ///
  /// @throws A2aException if the message is not valid
  TaskView send(Caller caller, SendRequest request) {
    var message = checked(request);
    if (message.taskId() == null) {
      var context = context(caller, message);
      return begin(caller, request, context, null);
    }
    var task = lookup.find(caller, message.taskId());
    if (message.contextId() != null && !message.contextId().equals(task.contextId().value())) {
      throw invalid(
          "message.contextId: task " + task.taskId() + " is in context " + task.contextId());
    }
    return goOn(caller, request, task);
  }

  /// Rewinds the context and sends the message, in one append.
  TaskView rewindAndSend(
      Caller caller, SendRequest request, ContextId context, Supplier<Rewinder.Plan> rewind) {
    checked(request);
    return begin(caller, request, context, rewind);
  }

  private WireMessage checked(SendRequest request) {
    var message = request.message();
    if (message.role() != WireRole.USER) {
      throw invalid("message.role: must be the role user");
    }
    if (!Id.valid(message.messageId())) {
      throw invalid("message." + Id.refusal("messageId").getMessage());
    }
    if (message.contextId() != null && !Id.valid(message.contextId())) {
      throw invalid("message." + Id.refusal("contextId").getMessage());
    }
    message.parts().forEach(media::check);
    if (request.push() != null) {
      pushes.check(request.push());
    }
    return message;
  }

  /// The context that the message names, or else one that is derived from the message, so that a
  /// retry uses the same context.
  private ContextId context(Caller caller, WireMessage message) {
    if (message.contextId() != null) {
      return new ContextId(message.contextId());
    }
    if (!settings.idempotent()) {
      return new ContextId(parts.ids().get().toString());
    }
    var about = caller.agent() + "\n" + caller.tenant() + "\n" + message.messageId();
    return NewContextId.of(caller.principal(), "a2a\n" + about);
  }

  private TaskView begin(
      Caller caller,
      SendRequest request,
      ContextId context,
      @Nullable Supplier<Rewinder.Plan> rewind) {
    var submission = submission(caller, request, context, null);
    // Check before the context is created, so that a rejected message leaves no empty context.
    parts.tasks().check(submission);
    try {
      parts.log().create(context, new ContextCreated(caller.principal(), null, null));
      lookup.check(caller, context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw invalid("message.contextId: " + notTheirs.getMessage());
    }
    if (rewind == null) {
      var sent = sentBefore(context, request.message());
      if (sent.isPresent()) {
        return kept(caller, request, sent.get());
      }
    }
    var accepted =
        submitted(
            request.message().messageId(),
            () ->
                rewind == null
                    ? parts.tasks().submit(submission)
                    : parts.tasks().submit(submission, rewind));
    return kept(caller, request, accepted);
  }

  private static Accepted submitted(String messageId, Supplier<Accepted> submitting) {
    try {
      return submitting.get();
    } catch (Rejection.Conflict reused) {
      throw isReuse(reused) ? reused(messageId) : reused;
    }
  }

  /// The task of this message, if the same message was sent before.
  ///
  /// @throws Rejection.Conflict if a different message of the context has the same id
  private Optional<TaskView> sentBefore(ContextId context, WireMessage message) {
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
      throw reused(message.messageId());
    }
    return parts.views().task(context, task);
  }

  private static boolean isSame(MessageView known, WireMessage message) {
    return known.role() == Role.USER
        && known.content().equals(Wording.of(message))
        && Objects.equals(known.parts(), json(message));
  }

  private static @Nullable List<JsonNode> json(WireMessage message) {
    return plain(message) ? null : message.parts().stream().map(Sending::json).toList();
  }

  /// True if the guard of [#once] rejected the message.
  static boolean isReuse(Rejection.Conflict conflict) {
    return conflict.code().equals("idempotency-key-reused");
  }

  static Rejection.Conflict reused(String messageId) {
    return new Rejection.Conflict(
        "message-id-reused",
        "message.messageId: "
            + messageId
            + " is already the id of a different message; send this message with a new id");
  }

  private TaskView goOn(Caller caller, SendRequest request, TaskView task) {
    var fold = form.now(task, caller.version());
    if (settings.idempotent()) {
      if (fold.knows(request.message())) {
        return task;
      }
      if (fold.knowsId(request.message().messageId())) {
        throw reused(request.message().messageId());
      }
      var sent = sentBefore(task.contextId(), request.message());
      if (sent.isPresent()) {
        return kept(caller, request, sent.get());
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
          caller.version() == Version.V1_0
              ? A2aError.UNSUPPORTED_OPERATION
              : A2aError.INVALID_PARAMS,
          ended + ": send the message without taskId to begin another task");
    }
    if (state.interrupted()) {
      answering.answer(caller, request.message(), fold, once(caller, request));
      return kept(caller, request, task, false);
    }
    var how = state == WireState.WORKING ? WhenBusy.STEER : WhenBusy.ENQUEUE;
    if (how == WhenBusy.STEER) {
      // The task may ask a question in the meantime, which the message then answers.
      var _ = caller.answerer().get();
    }
    var submission = submission(caller, request, task.contextId(), how);
    var id = request.message().messageId();
    return kept(caller, request, submitted(id, () -> parts.tasks().submit(submission)));
  }

  private TaskView kept(Caller caller, SendRequest request, Accepted accepted) {
    var task = task(accepted.contextId(), accepted.taskId().value());
    return kept(caller, request, task, accepted.messageId().equals(task.messageId()));
  }

  private TaskView kept(Caller caller, SendRequest request, TaskView task) {
    var id = new MessageId(request.message().messageId());
    return kept(caller, request, task, id.equals(task.messageId()));
  }

  /// @param began whether the task began with this message: its webhook then receives all updates
  private TaskView kept(Caller caller, SendRequest request, TaskView task, boolean began) {
    if (request.push() != null) {
      if (began) {
        pushes.keepFromStart(caller, task, request.push());
      } else {
        pushes.keep(caller, task, request.push());
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
      Caller caller, SendRequest request, ContextId context, @Nullable WhenBusy whenBusy) {
    var message = request.message();
    var text = Wording.of(message);
    if (text.isBlank()) {
      throw invalid("message.parts: a message needs text, data or a file");
    }
    var metadata = Json.object();
    if (caller.tenant() != null) {
      metadata.putObject(Speech.KEPT).put("tenant", caller.tenant());
    }
    var options =
        new Submission.Options(
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
        caller.principal(),
        text,
        json(message),
        options,
        once(caller, request),
        named(context, message));
  }

  /// The label with the sender's message id. If another message of the context has this id, the id
  /// is kept in the metadata instead.
  private Submission.Label named(ContextId context, WireMessage message) {
    var id = new MessageId(message.messageId());
    var label = label(message);
    if (!taken(context, id)) {
      return new Submission.Label(id, label);
    }
    var kept = label == null ? Json.object().putObject(Speech.KEPT) : label.path(Speech.KEPT);
    var renamed = Json.object();
    renamed.set(Speech.KEPT, ((ObjectNode) kept).put("messageId", id.value()));
    return new Submission.Label(null, renamed);
  }

  private boolean taken(ContextId context, MessageId id) {
    try {
      return parts.views().place(context, id).isPresent();
    } catch (Rejection.NotFound | Rejection.Gone none) {
      return false;
    }
  }

  private static JsonNode json(WirePart part) {
    return WireForms.V1_0.part(part);
  }

  /// True if the message has only one text part.
  private static boolean plain(WireMessage message) {
    return message.parts().size() == 1
        && message.parts().getFirst().content() instanceof WirePart.Text
        && message.parts().getFirst().metadata() == null;
  }

  /// The metadata to store with a message, beyond its parts.
  static @Nullable ObjectNode label(WireMessage message) {
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
    return kept.isEmpty() ? null : Json.object().set(Speech.KEPT, kept);
  }

  /// A guard that ignores a repeated message and rejects a different message with the same id.
  private Guard once(Caller caller, SendRequest request) {
    var message = request.message();
    return settings.idempotent()
        ? new Guard.Once(
            caller.principal(), "a2a:" + caller.agent() + ":" + message.messageId(), hash(message))
        : Guard.none();
  }

  /// The hash of the message's parts, without its metadata.
  private static String hash(WireMessage message) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      for (var part : message.parts()) {
        digest.update(Json.bytes(json(part)));
        digest.update((byte) '\n');
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static A2aException invalid(String message) {
    return new A2aException(A2aError.INVALID_PARAMS, message);
  }
}
