package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.api.openai.ResponseId.QuestionId;
import dev.parley.http.Request;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskFacts;
import dev.parley.protocol.TaskId;
import dev.parley.task.Rewinder;
import dev.parley.task.Submission;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Starts responses: with a new task, or with answers to a task that waits.
final class ResponseStarter {

  private static final int INSTRUCTIONS_MAX = 100_000;

  private final ApiDependencies parts;
  private final ResponseReader reader;
  private final ResponseAnswers answers;
  private final Rewinder rewinder;

  ResponseStarter(ApiDependencies parts, ResponseReader reader) {
    this.parts = parts;
    this.reader = reader;
    this.answers = new ResponseAnswers(parts, reader);
    this.rewinder = new Rewinder(parts.log(), parts.views());
  }

  /// Where a response belongs.
  sealed interface Destination {

    /// A context of its own.
    record NewContext() implements Destination {}

    /// A context that the request names.
    ///
    /// @param create whether it is created if it does not exist
    /// @param resent whether the client sends messages again that the context has
    record Named(ContextId context, boolean create, boolean resent) implements Destination {}

    /// After an earlier response.
    record After(ResponseId response) implements Destination {}
  }

  /// A request for a response.
  record ResponseRequest(
      Request http, OpenAiInput input, Destination destination, OpenAiFacts facts) {

    String principal() {
      return http.principal();
    }
  }

  /// A response that was started.
  record StartedResponse(ContextId context, ResponseId id) {}

  /// Starts a response. Returns when the request is durable.
  StartedResponse start(ResponseRequest request) {
    parts.access().checkAgent(request.http().caller(), request.input().agent());
    var known = known(request);
    if (known.isPresent()) {
      var repeated = answers.findRepeated(request, known.get());
      if (repeated.isPresent()) {
        return new StartedResponse(known.get(), repeated.get());
      }
    }
    var waiting = waiting(request);
    if (waiting.isPresent()) {
      var resumed =
          answers.resume(request, waiting.get(), submission(request, waiting.get().context(), ""));
      if (resumed.isPresent()) {
        return new StartedResponse(waiting.get().context(), resumed.get());
      }
    } else if (request.input().answers()) {
      throw new Rejection.Invalid(
          "no-open-call",
          "No function call or approval request of this server has one of the given ids. Send the"
              + " ids unchanged.");
    }
    return submit(request);
  }

  /// The context that the request continues, if the request names one and it exists.
  private Optional<ContextId> known(ResponseRequest request) {
    var root = namedRoot(request.input());
    if (root.isEmpty() && request.destination() instanceof Destination.NewContext) {
      root = QuestionForm.reference(request.input().lastAnswer());
    }
    try {
      if (root.isPresent()) {
        var id = new ResponseId(root.get(), 1);
        return Optional.of(reader.context(request.http(), Action.READ, id));
      }
      return switch (request.destination()) {
        case Destination.NewContext _ -> Optional.empty();
        case Destination.Named(var context, _, _) ->
            Optional.of(context).filter(id -> parts.access().mayUse(request.http(), id));
        case Destination.After(var id) ->
            Optional.of(reader.context(request.http(), Action.READ, id));
      };
    } catch (Rejection.NotFound unknown) {
      return Optional.empty();
    }
  }

  /// The task whose calls or approval requests the client answers.
  private static Optional<TaskId> namedRoot(OpenAiInput input) {
    return Stream.concat(
            input.outputs().stream()
                .flatMap(out -> QuestionId.parse(ResponseId.CALL, out.callId()).stream()),
            input.approvals().stream()
                .flatMap(
                    given -> QuestionId.parse(ResponseId.APPROVAL, given.requestId()).stream()))
        .reduce((_, last) -> last)
        .map(QuestionId::root);
  }

  /// A root task that the request may answer.
  record WaitingTask(ContextId context, TaskId root) {}

  /// The task that the request answers: the ids of the results name it, or the destination, or the
  /// question that the client shows.
  private Optional<WaitingTask> waiting(ResponseRequest request) {
    var named = namedRoot(request.input());
    if (named.isPresent()) {
      var context = reader.context(request.http(), Action.WRITE, new ResponseId(named.get(), 1));
      return Optional.of(new WaitingTask(context, named.get()));
    }
    return switch (request.destination()) {
      case Destination.NewContext _ -> answers.shownQuestion(request);
      case Destination.Named(var context, _, _) -> open(request.http(), context);
      case Destination.After(var id) -> {
        var context = reader.context(request.http(), Action.READ, id);
        // Only the latest response of a task waits. An older one is continued by a fork.
        yield parts.access().mayUse(request.http(), context)
                && reader.latest(context, id.root()).run() == id.run()
            ? Optional.of(new WaitingTask(context, id.root()))
            : Optional.empty();
      }
    };
  }

  /// The root task of a context that has started and not ended.
  private Optional<WaitingTask> open(Request request, ContextId context) {
    if (!parts.access().mayUse(request, context)) {
      return Optional.empty();
    }
    return parts
        .log()
        .inspect(
            context,
            state ->
                state.openTasks().stream()
                    .filter(task -> task.origin().parentTaskId() == null && task.started())
                    .map(task -> task.origin().taskId())
                    .findFirst())
        .map(root -> new WaitingTask(context, root));
  }

  // --- new tasks ----------------------------------------------------------------------------

  private StartedResponse submit(ResponseRequest request) {
    var text = request.input().text();
    if (text == null) {
      throw new Rejection.Invalid(
          "no-open-call", "the task does not wait for these results any more");
    }
    if (text.isBlank()) {
      throw new Rejection.Invalid("the message of the user needs text");
    }
    var context = context(request);
    var submission = submission(request, context, text);
    if (!(request.destination() instanceof Destination.Named(_, _, var resent) && resent)) {
      keepHistory(request, context);
    }
    var accepted = parts.tasks().submit(submission);
    return new StartedResponse(context, new ResponseId(accepted.taskId(), 1));
  }

  /// The context of the new task, which is created if needed.
  private ContextId context(ResponseRequest request) {
    return switch (request.destination()) {
      case Destination.NewContext _ -> {
        var context = ContextIdGenerator.of(request.http(), parts.ids());
        create(request, context);
        yield context;
      }
      case Destination.Named(var context, var create, _) -> {
        if (create) {
          create(request, context);
        } else {
          parts.access().check(request.http(), context);
        }
        yield context;
      }
      case Destination.After(var id) -> after(request, id);
    };
  }

  private void create(ResponseRequest request, ContextId context) {
    if (!parts.access().mayUse(request.http(), context)) {
      // Checked first: a rejected message must not leave an empty context behind.
      var text = request.input().text();
      parts.tasks().check(submission(request, context, text == null ? "" : text));
      parts
          .access()
          .create(
              request.http().caller(),
              context,
              new ContextCreated(request.principal(), null, null));
    }
  }

  /// The context in which a response is continued: its own, or a fork if the conversation has gone
  /// on since then.
  private ContextId after(ResponseRequest request, ResponseId id) {
    var context = reader.context(request.http(), Action.READ, id);
    var response = reader.read(context, id).response();
    if (!response.ended()) {
      throw new Rejection.Conflict(
          "response-in-progress",
          "the response " + id + " has not ended: wait for its end, or cancel it");
    }
    var isLast =
        reader.latest(context, id.root()).run() == id.run()
            && parts.views().rootTasks(context, response.endSeq(), Long.MAX_VALUE).isEmpty();
    if (isLast) {
      parts.access().check(request.http(), context);
      return context;
    }
    var fork =
        request
            .http()
            .idempotencyKey()
            .map(_ -> ContextIdGenerator.of(request.http(), parts.ids()))
            .orElseGet(() -> new ContextId(parts.ids().get().toString()));
    // A fork does not change its source.
    parts.access().checkNew(request.http().caller(), fork);
    rewinder.fork(
        context, new Rewinder.ContextFork(fork, response.endSeq(), request.principal(), null));
    parts.access().check(request.http(), fork);
    return fork;
  }

  /// Stores the earlier messages that the client sent along.
  private void keepHistory(ResponseRequest request, ContextId context) {
    var drafts =
        request.input().history().stream()
            .map(
                earlier ->
                    EventDraft.of(
                        new Message(
                            new MessageId(parts.ids().get().toString()),
                            earlier.role(),
                            earlier.text(),
                            null,
                            null,
                            request.principal())))
            .toList();
    if (!drafts.isEmpty()) {
      parts.log().append(context, historyGuard(request), _ -> drafts);
    }
  }

  private static AppendGuard historyGuard(ResponseRequest request) {
    return request
        .http()
        .idempotencyKey()
        .<AppendGuard>map(
            key ->
                new AppendGuard.IdempotencyKey(
                    request.principal(), key + "/history", request.http().bodyHash()))
        .orElseGet(AppendGuard::none);
  }

  private static Submission submission(ResponseRequest request, ContextId context, String text) {
    var metadata = request.facts().metadata();
    var instructions = instructions(request.input().instructions());
    if (!instructions.isEmpty()) {
      TaskFacts.putGrounding(metadata, instructions);
    }
    return new Submission(
        context,
        request.principal(),
        text,
        null,
        options(request.input(), metadata),
        request.http().idempotencyGuard(),
        Submission.MessageLabel.NONE);
  }

  private static Submission.TaskOptions options(OpenAiInput input, @Nullable ObjectNode metadata) {
    return new Submission.TaskOptions(
        input.agent(), null, null, null, null, null, null, input.tools().functions(), metadata);
  }

  private static List<ObjectNode> instructions(List<String> texts) {
    if (texts.stream().mapToInt(String::length).sum() > INSTRUCTIONS_MAX) {
      throw new Rejection.TooLarge(
          "content-too-long", "the instructions have at most " + INSTRUCTIONS_MAX + " characters");
    }
    return texts.stream()
        .map(text -> Json.object().put("description", "Instructions").put("value", text))
        .toList();
  }
}
