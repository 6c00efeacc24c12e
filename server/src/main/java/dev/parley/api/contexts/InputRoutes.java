package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.PendingView;
import dev.parley.protocol.Rejection;
import dev.parley.task.Answerer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Routes for the questions of tasks: list and answer them.
final class InputRoutes {

  static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final ApiDependencies parts;

  InputRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The answer to a question.
  record NewAnswer(@Nullable JsonNode value) {}

  /// An accepted answer, and its seq in the log.
  record AnswerAccepted(ContextId contextId, InputId inputId, long seq) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
                Route.Method.POST,
                "/api/contexts/{c}/inputs/{i}",
                new Route.RouteDescription(
                    "Answers a question of a task",
                    List.of(KEY),
                    NewAnswer.class,
                    ResponseDescription.one(202, AnswerAccepted.class)),
                this::answer)
            .doing(Action.ANSWER),
        Route.get(
            "/api/inbox",
            "Lists open questions and sign-ins of all contexts, oldest first",
            ResponseDescription.page(PendingView.class),
            List.of(Parameter.LIMIT, Parameter.CURSOR),
            this::inbox));
  }

  private Reply answer(Request request) {
    var context = parts.access().context(request);
    var input = new InputId(request.path("i"));
    var value = request.body(NewAnswer.class).value();
    var by =
        new AnswerRequest(context, parts.approvals().person(request), request.idempotencyGuard());
    return new Reply.Json(202, answer(by, input, value));
  }

  /// The context, the answerer, and the guard of an answer.
  record AnswerRequest(ContextId context, Answerer by, AppendGuard guard) {}

  AnswerAccepted answer(AnswerRequest by, InputId input, @Nullable JsonNode value) {
    if (value == null) {
      throw new Rejection.Invalid("invalid-answer", "value is required");
    }
    var appendResult = parts.tasks().answer(by.context(), input, value, by.by(), by.guard());
    return new AnswerAccepted(by.context(), input, appendResult.first().seq());
  }

  private Reply inbox(Request request) {
    var visible = parts.access().visible(request.caller());
    var cursor = request.query("cursor").orElse(null);
    return new Reply.Json(200, parts.views().pending(visible, cursor, request.limit()));
  }
}
