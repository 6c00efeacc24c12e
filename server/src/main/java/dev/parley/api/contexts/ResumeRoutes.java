package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.auth.SignInId;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A route that answers several questions and sign-ins of a context with one request.
final class ResumeRoutes {

  private static final int ANSWERS_MAX = 100;

  private final ApiDependencies parts;
  private final InputRoutes inputs;
  private final SignInRoutes signIns;

  ResumeRoutes(ApiDependencies parts, InputRoutes inputs, SignInRoutes signIns) {
    this.parts = parts;
    this.inputs = inputs;
    this.signIns = signIns;
  }

  /// Answers and credentials; each is accepted or rejected separately. `type` is optional, and can
  /// only be `resume`.
  record ResumeRequest(
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
  record ResumeOutcome(
      @Nullable InputId inputId,
      @Nullable AuthId authId,
      @Nullable Long seq,
      @Nullable String code,
      @Nullable String detail) {}

  /// The outcomes of all of them.
  record ResumeResult(
      ContextId contextId, List<ResumeOutcome> accepted, List<ResumeOutcome> refused) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
                Route.Method.POST,
                "/api/contexts/{c}/resume",
                new Route.RouteDescription(
                    "Answers several questions of tasks, and signs in",
                    List.of(InputRoutes.KEY),
                    ResumeRequest.class,
                    ResponseDescription.one(202, ResumeResult.class)),
                this::resume)
            .doing(Action.ANSWER));
  }

  private Reply resume(Request request) {
    var context = parts.access().context(request);
    var resumeRequest = request.body(ResumeRequest.class);
    var answers = Optional.ofNullable(resumeRequest.inputs()).orElse(List.of());
    var credentials = Optional.ofNullable(resumeRequest.credentials()).orElse(List.of());
    if (resumeRequest.type() != null && !resumeRequest.type().equals("resume")) {
      throw new Rejection.Invalid("type must be resume");
    }
    if (answers.size() + credentials.size() > ANSWERS_MAX) {
      throw new Rejection.Invalid("at most " + ANSWERS_MAX + " answers can be given at once");
    }
    var who = parts.approvals().person(request);
    var outcome = new Outcomes();
    for (var answer : answers) {
      var appendGuard = guard(request, "input:" + answer.inputId(), request.bodyHash());
      var by = new InputRoutes.AnswerRequest(context, who, appendGuard);
      outcome.add(
          new ResumeOutcome(answer.inputId(), null, null, null, null),
          () -> inputs.answer(by, answer.inputId(), answer.value()).seq());
    }
    for (var given : credentials) {
      var appendGuard = guard(request, "auth:" + given.authId(), request.path());
      var handedIn = new SignInRoutes.NewSignIn(given.credential(), given.jwe(), null);
      outcome.add(
          new ResumeOutcome(null, given.authId(), null, null, null),
          () ->
              signIns
                  .signIn(
                      request, new SignInId(context, given.authId()), handedIn, who, appendGuard)
                  .seq());
    }
    if (outcome.accepted.isEmpty()) {
      throw outcome.rejection(nothingPending(context));
    }
    return new Reply.Json(202, new ResumeResult(context, outcome.accepted, outcome.refused));
  }

  private boolean nothingPending(ContextId context) {
    return parts
        .log()
        .inspect(context, state -> state.openInputs().isEmpty() && state.openAuths().isEmpty());
  }

  /// Each answer has a key of its own.
  private static AppendGuard guard(Request request, String which, String hash) {
    return request
        .idempotencyKey()
        .<AppendGuard>map(
            key -> new AppendGuard.IdempotencyKey(request.principal(), key + "/" + which, hash))
        .orElseGet(AppendGuard::none);
  }

  /// Collects the outcomes. For one thread.
  private static final class Outcomes {
    final List<ResumeOutcome> accepted = new ArrayList<>();
    final List<ResumeOutcome> refused = new ArrayList<>();
    private @Nullable Rejection first;

    void add(ResumeOutcome which, Supplier<Long> attempt) {
      try {
        var seq = attempt.get();
        accepted.add(new ResumeOutcome(which.inputId(), which.authId(), seq, null, null));
      } catch (Rejection.Invalid
          | Rejection.NotFound
          | Rejection.Conflict
          | Rejection.Stale
          | Rejection.Forbidden no) {
        first = first == null ? no : first;
        var detail = String.valueOf(no.getMessage());
        refused.add(new ResumeOutcome(which.inputId(), which.authId(), null, no.code(), detail));
      }
    }

    Rejection rejection(boolean nothingPending) {
      if (nothingPending) {
        return new Rejection.Conflict(
            "nothing-pending", "no question or sign-in is open in this context");
      }
      return first == null ? new Rejection.Invalid("inputs or credentials are required") : first;
    }
  }
}
