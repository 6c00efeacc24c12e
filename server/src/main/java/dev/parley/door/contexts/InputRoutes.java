package dev.parley.door.contexts;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Paging;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Answerer;
import dev.parley.view.PendingView;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Routes for the questions of tasks: list and answer them.
final class InputRoutes {

  static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final DoorParts parts;

  InputRoutes(DoorParts parts) {
    this.parts = parts;
  }

  /// The answer to a question.
  record NewAnswer(@Nullable JsonNode value) {}

  /// An accepted answer, and its seq in the log.
  record Answered(ContextId contextId, InputId inputId, long seq) {}

  List<Route> routes() {
    return List.of(
        Route.send(
            Route.Method.POST,
            "/api/contexts/{c}/inputs/{i}",
            new Route.Description(
                "Answers a question of a task",
                List.of(KEY),
                NewAnswer.class,
                Answer.one(202, Answered.class)),
            this::answer),
        Route.get(
            "/api/inbox",
            "Lists open questions and sign-ins of all contexts, oldest first",
            Answer.page(PendingView.class),
            List.of(Paging.LIMIT, Paging.CURSOR),
            this::inbox));
  }

  private Reply answer(Request request) {
    var context = parts.access().context(request);
    var input = new InputId(request.path("i"));
    var value = request.body(NewAnswer.class).value();
    var by = new Answering(context, parts.approvals().person(request), request.once());
    return new Reply.Json(202, answer(by, input, value));
  }

  /// The context, the answerer, and the guard of an answer.
  record Answering(ContextId context, Answerer by, Guard guard) {}

  Answered answer(Answering by, InputId input, @Nullable JsonNode value) {
    if (value == null) {
      throw new Rejection.Invalid("invalid-answer", "value is required");
    }
    var appended = parts.tasks().answer(by.context(), input, value, by.by(), by.guard());
    return new Answered(by.context(), input, appended.first().seq());
  }

  private Reply inbox(Request request) {
    var owners = parts.access().owners(request.principal());
    var cursor = request.query("cursor").orElse(null);
    return new Reply.Json(200, parts.views().pending(owners, cursor, request.limit()));
  }
}
