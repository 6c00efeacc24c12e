package dev.parley.door.contexts;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.log.Guard;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import dev.parley.vault.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A route that answers several questions and sign-ins of a context with one request.
final class ResumeRoutes {

  private static final int ANSWERS_MAX = 100;

  private final DoorParts parts;
  private final InputRoutes inputs;
  private final SignInRoutes signIns;

  ResumeRoutes(DoorParts parts, InputRoutes inputs, SignInRoutes signIns) {
    this.parts = parts;
    this.inputs = inputs;
    this.signIns = signIns;
  }

  /// Answers and credentials; each is accepted or rejected separately. `type` is optional, and can
  /// only be `resume`.
  record Resume(
      @Nullable String type,
      @Nullable List<ResumeInput> inputs,
      @Nullable List<ResumeCredential> credentials) {}

  /// An answer.
  record ResumeInput(InputId inputId, @Nullable JsonNode value) {}

  /// A credential.
  record ResumeCredential(AuthId authId, @Nullable String credential, @Nullable String jwe) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "a credential for " + authId;
    }
  }

  /// The outcome of one of them: its seq in the log, or the reason of the rejection.
  record Resumed(
      @Nullable InputId inputId,
      @Nullable AuthId authId,
      @Nullable Long seq,
      @Nullable String code,
      @Nullable String detail) {}

  /// The outcomes of all of them.
  record ResumeResult(ContextId contextId, List<Resumed> accepted, List<Resumed> refused) {}

  List<Route> routes() {
    return List.of(
        Route.send(
            Route.Method.POST,
            "/api/contexts/{c}/resume",
            new Route.Description(
                "Answers several questions of tasks, and signs in",
                List.of(InputRoutes.KEY),
                Resume.class,
                Answer.one(202, ResumeResult.class)),
            this::resume));
  }

  private Reply resume(Request request) {
    var context = parts.access().context(request);
    var resume = request.body(Resume.class);
    var answers = Optional.ofNullable(resume.inputs()).orElse(List.of());
    var credentials = Optional.ofNullable(resume.credentials()).orElse(List.of());
    if (resume.type() != null && !resume.type().equals("resume")) {
      throw new Rejection.Invalid("type must be resume");
    }
    if (answers.size() + credentials.size() > ANSWERS_MAX) {
      throw new Rejection.Invalid("at most " + ANSWERS_MAX + " answers can be given at once");
    }
    var who = parts.approvals().person(request);
    var outcome = new Outcomes();
    for (var answer : answers) {
      var guard = guard(request, "input:" + answer.inputId(), request.bodyHash());
      var by = new InputRoutes.Answering(context, who, guard);
      outcome.add(
          new Resumed(answer.inputId(), null, null, null, null),
          () -> inputs.answer(by, answer.inputId(), answer.value()).seq());
    }
    for (var given : credentials) {
      var guard = guard(request, "auth:" + given.authId(), request.path());
      var handedIn = new SignInRoutes.NewSignIn(given.credential(), given.jwe(), null);
      outcome.add(
          new Resumed(null, given.authId(), null, null, null),
          () ->
              signIns
                  .signIn(request, new Place(context, given.authId()), handedIn, who, guard)
                  .seq());
    }
    if (outcome.accepted.isEmpty()) {
      throw outcome.why(nothingPending(context));
    }
    return new Reply.Json(202, new ResumeResult(context, outcome.accepted, outcome.refused));
  }

  private boolean nothingPending(ContextId context) {
    return parts
        .log()
        .inspect(context, state -> state.openInputs().isEmpty() && state.openAuths().isEmpty());
  }

  /// Each answer has a key of its own.
  private static Guard guard(Request request, String which, String hash) {
    return request
        .idempotencyKey()
        .<Guard>map(key -> new Guard.Once(request.principal(), key + "/" + which, hash))
        .orElseGet(Guard::none);
  }

  /// Collects the outcomes. For one thread.
  private static final class Outcomes {
    final List<Resumed> accepted = new ArrayList<>();
    final List<Resumed> refused = new ArrayList<>();
    private @Nullable Rejection first;

    void add(Resumed which, Supplier<Long> attempt) {
      try {
        var seq = attempt.get();
        accepted.add(new Resumed(which.inputId(), which.authId(), seq, null, null));
      } catch (Rejection.Invalid
          | Rejection.NotFound
          | Rejection.Conflict
          | Rejection.Stale
          | Rejection.Forbidden no) {
        first = first == null ? no : first;
        var detail = String.valueOf(no.getMessage());
        refused.add(new Resumed(which.inputId(), which.authId(), null, no.code(), detail));
      }
    }

    Rejection why(boolean nothingPending) {
      if (nothingPending) {
        return new Rejection.Conflict(
            "nothing-pending", "no question or sign-in is open in this context");
      }
      return first == null ? new Rejection.Invalid("inputs or credentials are required") : first;
    }
  }
}
