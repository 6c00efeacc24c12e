package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.api.openai.OpenAiInput.FunctionOutput;
import dev.parley.api.openai.ResponseId.QuestionId;
import dev.parley.api.openai.ResponseProjection.Phase;
import dev.parley.api.openai.ResponseStarter.ResponseRequest;
import dev.parley.api.openai.ResponseStarter.WaitingTask;
import dev.parley.identity.Action;
import dev.parley.log.AppendResult;
import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.stream.FrameCursor;
import dev.parley.task.Submission;
import dev.parley.task.TaskResumption;
import dev.parley.task.TaskResumption.GivenAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Answers the questions of tasks that wait: with results of function calls, with approvals, or
/// with the text of the user.
final class ResponseAnswers {

  private static final int READ = 100;

  private final ApiDependencies parts;
  private final ResponseReader reader;

  ResponseAnswers(ApiDependencies parts, ResponseReader reader) {
    this.parts = parts;
    this.reader = reader;
  }

  /// The task whose question the client shows as its last answer, if it still waits.
  ///
  /// A client without state sends the whole conversation again. Its last answer then ends with the
  /// text of the question. The text must be exactly that of the open question, so the user has seen
  /// what a reply decides, whatever else the text of the conversation contains.
  Optional<WaitingTask> shownQuestion(ResponseRequest request) {
    var shown = request.input().lastAnswer().strip();
    var root = QuestionForm.reference(shown).orElse(null);
    if (root == null) {
      return Optional.empty();
    }
    try {
      var context = reader.context(request.http(), Action.WRITE, new ResponseId(root, 1));
      var task = reader.latest(context, root);
      return task.phase() == Phase.PAUSED
              && QuestionForm.firstText(task.questions(), task.facts().forms())
                  .filter(question -> shown.endsWith(QuestionForm.text(root, question).strip()))
                  .isPresent()
          ? Optional.of(new WaitingTask(context, root))
          : Optional.empty();
    } catch (Rejection.NotFound unknown) {
      return Optional.empty();
    }
  }

  /// Passes the answers of a request to the task. Returns the response that follows them; empty if
  /// the request is no answer, but a new message.
  Optional<ResponseId> resume(ResponseRequest request, WaitingTask task, Submission message) {
    var state = reader.latest(task.context(), task.root());
    var given = new ArrayList<GivenAnswer>();
    @Nullable ResponseId followed = null;
    for (var answer : named(request)) {
      var open = find(state, answer.question());
      if (open.isPresent()) {
        given.add(answer.given(open.get()));
      } else {
        followed = follow(state, answer);
      }
    }
    if (given.isEmpty() && followed != null) {
      // A client without state sends earlier results again, before a new message.
      return request.input().text() == null ? Optional.of(followed) : Optional.empty();
    }
    var text = request.input().text();
    if (given.isEmpty() && (text == null || state.phase() != Phase.PAUSED)) {
      return Optional.empty();
    }
    checkCalls(state, given);
    if (given.isEmpty() && text != null) {
      var question =
          QuestionForm.firstText(state.questions(), state.facts().forms())
              .orElseThrow(ResponseAnswers::answersMissing);
      given.add(QuestionForm.answer(question, text, item(request, message(text))));
      text = null;
    }
    return Optional.of(append(request, task, given, text == null ? null : with(message, text)));
  }

  private static Rejection answersMissing() {
    return new Rejection.Invalid(
        "answers-missing",
        "the agent waits for answers to its approval requests: send an mcp_approval_response for"
            + " each of them");
  }

  private static Submission with(Submission message, String text) {
    return new Submission(
        message.context(),
        message.principal(),
        text,
        null,
        message.options(),
        message.guard(),
        message.label());
  }

  private static ObjectNode message(String text) {
    var item = Json.object().put("type", "message").put("role", "user").put("status", "completed");
    item.putArray("content").addObject().put("type", "input_text").put("text", text);
    return item;
  }

  private static ObjectNode item(ResponseRequest request, ObjectNode item) {
    return request.facts().metadata(item);
  }

  /// An answer that names its question. `value` is what a repeated request would have stored.
  private record NamedAnswer(
      QuestionId question, String name, @Nullable FunctionOutput output, GivenAnswer value) {

    GivenAnswer given(OpenQuestion open) {
      return output == null || value.metadata() == null
          ? value
          : QuestionForm.answer(open, output.output(), value.metadata());
    }
  }

  private static List<NamedAnswer> named(ResponseRequest request) {
    var all = new ArrayList<NamedAnswer>();
    for (var output : request.input().outputs()) {
      var id =
          QuestionId.parse(ResponseId.CALL, output.callId())
              .orElseThrow(() -> unknownCall(output.callId()));
      var metadata = item(request, output.item());
      all.add(
          new NamedAnswer(
              id, output.callId(), output, new GivenAnswer(id.input(), null, metadata, null)));
    }
    for (var approval : request.input().approvals()) {
      var id =
          QuestionId.parse(ResponseId.APPROVAL, approval.requestId())
              .orElseThrow(() -> unknownCall(approval.requestId()));
      var value = QuestionForm.approval(approval.approve(), approval.reason());
      var metadata = item(request, approval.item());
      all.add(
          new NamedAnswer(
              id, approval.requestId(), null, new GivenAnswer(id.input(), value, metadata, null)));
    }
    return all;
  }

  private static Rejection unknownCall(String id) {
    return new Rejection.Invalid(
        "no-open-call", "No function call or approval request has the id " + id + ".");
  }

  private static Optional<OpenQuestion> find(ResponseProjection state, QuestionId id) {
    return state.questions().stream()
        .filter(question -> question.id().equals(id.input()))
        .findFirst();
  }

  /// The response that followed the same answer, if it was given before: the connection of an
  /// earlier request may have failed.
  private static @Nullable ResponseId follow(ResponseProjection state, NamedAnswer answer) {
    if (!answer.question().root().equals(state.id().root())) {
      // The result of a call of an earlier task, which the client sent again.
      return null;
    }
    Id input = answer.question().input();
    var before = state.received(input).orElseThrow(() -> unknownCall(answer.name()));
    return new ResponseId(state.id().root(), before.run());
  }

  /// Rejects a request that leaves a function call without its output, as OpenAI does.
  private static void checkCalls(ResponseProjection state, List<GivenAnswer> given) {
    for (var question : state.questions()) {
      var missing = given.stream().noneMatch(one -> one.questionId().equals(question.id()));
      if (missing
          && QuestionForm.functionName(question, state.facts().forms()).isPresent()
          && question.input() != null) {
        var id = new QuestionId(state.id().root(), question.input().inputId());
        throw new Rejection.Invalid(
            "answers-missing",
            "No tool output found for function call " + id.text(ResponseId.CALL) + ".");
      }
    }
  }

  private ResponseId append(
      ResponseRequest request,
      WaitingTask task,
      List<GivenAnswer> given,
      @Nullable Submission message) {
    var appended =
        parts
            .tasks()
            .resume(
                new TaskResumption(
                    task.context(),
                    parts.approvals().person(request.http()),
                    given,
                    message,
                    request.http().idempotencyGuard()),
                _ -> {});
    return reader.at(task.context(), task.root(), appended.last());
  }

  /// The response of the same request, if it was processed before in this context.
  Optional<ResponseId> findRepeated(ResponseRequest request, ContextId context) {
    if (request.http().idempotencyKey().isEmpty()) {
      return Optional.empty();
    }
    try {
      var before =
          parts
              .log()
              .append(
                  context,
                  request.http().idempotencyGuard(),
                  _ -> {
                    throw new Rejection.NotFound("this request is new");
                  });
      return Optional.of(responseOf(context, before));
    } catch (Rejection.NotFound isNew) {
      return Optional.empty();
    }
  }

  /// The response that an append began: of the waiting task, or of a new one.
  private ResponseId responseOf(ContextId context, AppendResult appended) {
    var position = FrameCursor.before(appended.first());
    while (appended.last().after(position)) {
      for (var entry : parts.log().read(context, position, READ)) {
        position = entry.position();
        if (entry.origin() != null) {
          return reader.at(context, entry.origin().rootTaskId(), appended.last());
        }
      }
    }
    throw new IllegalStateException("the append " + appended + " has no task");
  }
}
