package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.auth.OAuthFlow;
import dev.parley.auth.SignInId;
import dev.parley.auth.SignIns.SignInLog;
import dev.parley.auth.SignIns.SignInProof;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Answerer;
import dev.parley.task.TaskResumption;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes for sign-ins that tasks request. Credentials are stored only in the credential store.
final class SignInRoutes {

  private static final String PAGE =
      """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="color-scheme" content="light dark">
      <title>Parley</title>
      <h1>{title}</h1>
      <p>{text}</p>
      </html>
      """;
  private static final Map<String, String> PAGE_HEADERS =
      Map.of(
          "Content-Security-Policy",
          "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          "Referrer-Policy",
          "no-referrer");

  private static final String SKIPPED = "the person skipped this sign-in";

  private final ApiDependencies parts;

  SignInRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A credential: plain, or encrypted with the key in the task's event. Or `skipped`: the person
  /// does not sign in, and the task continues without.
  record NewSignIn(@Nullable String credential, @Nullable String jwe, @Nullable Boolean skipped) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "a sign-in";
    }
  }

  /// An accepted sign-in, and its seq in the log.
  record SignedIn(ContextId contextId, AuthId authId, long seq) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
                Route.Method.POST,
                "/api/contexts/{c}/auths/{a}",
                new Route.RouteDescription(
                    "Completes a sign-in that a task requested",
                    List.of(InputRoutes.KEY),
                    NewSignIn.class,
                    ResponseDescription.one(202, SignedIn.class)),
                this::signIn)
            .doing(Action.ANSWER),
        Route.get(
            "/oauth/callback",
            "Completes a sign-in with OAuth, for browsers",
            ResponseDescription.other("text/html"),
            List.of(
                Parameter.query("state", "identifies the sign-in"),
                Parameter.query("code", "the authorization code"),
                Parameter.query("error", "why there is no code"),
                Parameter.query("iss", "the authorization server"),
                Parameter.ANY_OTHER),
            this::callback));
  }

  private Reply signIn(Request request) {
    var context = parts.access().context(request);
    var handedIn = request.body(NewSignIn.class);
    // The body's hash would be a hash of the secret, and the guard is stored in the log.
    var appendGuard =
        request
            .idempotencyKey()
            .<AppendGuard>map(
                key -> new AppendGuard.IdempotencyKey(request.principal(), key, request.path()))
            .orElseGet(AppendGuard::none);
    var signInId = new SignInId(context, new AuthId(request.path("a")));
    var by = parts.approvals().person(request);
    return new Reply.Json(202, signIn(request, signInId, handedIn, by, appendGuard));
  }

  SignedIn signIn(
      Request request,
      SignInId signInId,
      NewSignIn handedIn,
      Answerer by,
      AppendGuard appendGuard) {
    by.checkApproval();
    if (Boolean.TRUE.equals(handedIn.skipped())) {
      return skip(signInId, by, handedIn, appendGuard);
    }
    var signInProof = proof(request, handedIn);
    var log = new LoggedSignIn(parts, by, appendGuard);
    if (log.open(signInId, request.principal())) {
      parts.signIns().accept(signInId, signInProof, request.principal(), log);
    }
    return new SignedIn(signInId.contextId(), signInId.authId(), log.seq());
  }

  private SignedIn skip(
      SignInId signInId, Answerer by, NewSignIn handedIn, AppendGuard appendGuard) {
    if (handedIn.credential() != null || handedIn.jwe() != null) {
      throw new Rejection.Invalid("a skipped sign-in must not have a credential");
    }
    var skipped = new TaskResumption.GivenAnswer(signInId.authId(), null, null, SKIPPED);
    var taskResumption =
        new TaskResumption(signInId.contextId(), by, List.of(skipped), null, appendGuard);
    var appendResult = parts.tasks().resume(taskResumption, _ -> {});
    return new SignedIn(signInId.contextId(), signInId.authId(), appendResult.first().seq());
  }

  private static SignInProof proof(Request request, NewSignIn handedIn) {
    var credential = handedIn.credential();
    var jwe = handedIn.jwe();
    if ((credential == null) == (jwe == null)) {
      throw new Rejection.Invalid("either credential or jwe is required");
    }
    if (jwe != null) {
      return new SignInProof.EncryptedCredential(jwe);
    }
    if (credential == null || !request.confidential()) {
      throw new Rejection.Invalid(
          "not-confidential",
          "others could read this credential in transit: use https (a proxy that terminates it must"
              + " be in trustedProxies), or send a jwe. Revoke this credential.");
    }
    return new SignInProof.PlainCredential(credential);
  }

  private Reply callback(Request request) {
    var oAuthCallback =
        new OAuthFlow.OAuthCallback(
            request.query("state").orElse(""),
            request.query("code").orElse(""),
            request.query("error").orElse(""),
            request.query("iss").orElse(null));
    var by = parts.approvals().browser(request);
    try {
      return parts
              .signIns()
              .callback(oAuthCallback, new LoggedSignIn(parts, by, AppendGuard.none()))
          ? page(200, "You are signed in", "You can close this window.")
          : page(400, "You are not signed in", "Go back to the conversation and try again.");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the server is stopping");
    }
  }

  private static Reply page(int status, String title, String text) {
    var bytes =
        PAGE.replace("{title}", title).replace("{text}", text).getBytes(StandardCharsets.UTF_8);
    return new Reply.Bytes(status, "text/html; charset=utf-8", bytes, PAGE_HEADERS);
  }

  /// Reads and appends the events of one sign-in. For one thread.
  private static final class LoggedSignIn implements SignInLog {

    private final ApiDependencies parts;
    private final Answerer by;
    private final AppendGuard appendGuard;
    private long seq;

    LoggedSignIn(ApiDependencies parts, Answerer by, AppendGuard appendGuard) {
      this.parts = parts;
      this.by = by;
      this.appendGuard = appendGuard;
    }

    @Override
    public RequestedSignIn requested(SignInId signInId) {
      var required =
          parts
              .log()
              .inspect(
                  signInId.contextId(),
                  state -> state.openAuth(signInId.authId()).map(open -> open.required()))
              .orElseThrow(
                  () -> new Rejection.Conflict("not-wanted", "this sign-in is not requested"));
      var provider = Optional.ofNullable(required.provider()).orElse("");
      return new RequestedSignIn(
          parts.log().owner(signInId.contextId()), provider, required.authType());
    }

    @Override
    public void complete(SignInId signInId, String principal, ObjectNode metadata) {
      appendSignedIn(signInId, principal, metadata);
    }

    /// True if the sign-in is still open. If it is not, the same request has already completed it.
    ///
    /// @throws Rejection.NotFound if it was never requested
    /// @throws Rejection.Conflict if another request completed it, or it was withdrawn
    boolean open(SignInId signInId, String principal) {
      var open =
          parts
              .log()
              .inspect(
                  signInId.contextId(), state -> state.openAuth(signInId.authId()).isPresent());
      if (!open) {
        appendSignedIn(signInId, principal, null);
      }
      return open;
    }

    /// The seq of the event that completed the sign-in.
    long seq() {
      return seq;
    }

    private void appendSignedIn(
        SignInId signInId, String principal, @Nullable ObjectNode metadata) {
      var said =
          parts
              .tasks()
              .completeSignIn(
                  signInId.contextId(), signInId.authId(), by.as(principal), metadata, appendGuard);
      seq = said.first().seq();
    }
  }
}
