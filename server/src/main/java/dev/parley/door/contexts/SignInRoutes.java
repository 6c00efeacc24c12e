package dev.parley.door.contexts;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.log.Guard;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Answerer;
import dev.parley.task.Resumption;
import dev.parley.vault.OAuthFlow;
import dev.parley.vault.Place;
import dev.parley.vault.Proof;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

  private final DoorParts parts;

  SignInRoutes(DoorParts parts) {
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
        Route.send(
            Route.Method.POST,
            "/api/contexts/{c}/auths/{a}",
            new Route.Description(
                "Completes a sign-in that a task requested",
                List.of(InputRoutes.KEY),
                NewSignIn.class,
                Answer.one(202, SignedIn.class)),
            this::signIn),
        Route.get(
            "/oauth/callback",
            "Completes a sign-in with OAuth, for browsers",
            Answer.other("text/html"),
            List.of(
                Parameter.query("state", "identifies the sign-in"),
                Parameter.query("code", "the authorization code"),
                Parameter.query("error", "why there is no code"),
                Parameter.query("iss", "the authorization server"),
                Parameter.OTHERS),
            this::callback));
  }

  private Reply signIn(Request request) {
    var context = parts.access().context(request);
    var handedIn = request.body(NewSignIn.class);
    // The body's hash would be a hash of the secret, and the guard is stored in the log.
    var guard =
        request
            .idempotencyKey()
            .<Guard>map(key -> new Guard.Once(request.principal(), key, request.path()))
            .orElseGet(Guard::none);
    var place = new Place(context, new AuthId(request.path("a")));
    var by = parts.approvals().person(request);
    return new Reply.Json(202, signIn(request, place, handedIn, by, guard));
  }

  SignedIn signIn(Request request, Place place, NewSignIn handedIn, Answerer by, Guard guard) {
    by.checkApproval();
    if (Boolean.TRUE.equals(handedIn.skipped())) {
      return skip(place, by, handedIn, guard);
    }
    var proof = proof(request, handedIn);
    var log = new LoggedSignIn(parts, by, guard);
    if (log.open(place, request.principal())) {
      parts.signIns().accept(place, proof, request.principal(), log);
    }
    return new SignedIn(place.contextId(), place.authId(), log.seq());
  }

  private SignedIn skip(Place place, Answerer by, NewSignIn handedIn, Guard guard) {
    if (handedIn.credential() != null || handedIn.jwe() != null) {
      throw new Rejection.Invalid("a skipped sign-in must not have a credential");
    }
    var skipped = new Resumption.Given(place.authId(), null, null, SKIPPED);
    var resumption = new Resumption(place.contextId(), by, List.of(skipped), null, guard);
    var appended = parts.tasks().resume(resumption, _ -> {});
    return new SignedIn(place.contextId(), place.authId(), appended.first().seq());
  }

  private static Proof proof(Request request, NewSignIn handedIn) {
    var credential = handedIn.credential();
    var jwe = handedIn.jwe();
    if ((credential == null) == (jwe == null)) {
      throw new Rejection.Invalid("either credential or jwe is required");
    }
    if (jwe != null) {
      return new Proof.Encrypted(jwe);
    }
    if (credential == null || !request.confidential()) {
      throw new Rejection.Invalid(
          "not-confidential",
          "others could read this credential in transit: use https, or send a jwe. Revoke this"
              + " credential.");
    }
    return new Proof.Plain(credential);
  }

  private Reply callback(Request request) {
    var returned =
        new OAuthFlow.Returned(
            request.query("state").orElse(""),
            request.query("code").orElse(""),
            request.query("error").orElse(""),
            request.query("iss").orElse(null));
    var by = parts.approvals().browser(request);
    try {
      return parts.signIns().callback(returned, new LoggedSignIn(parts, by, Guard.none()))
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
}
