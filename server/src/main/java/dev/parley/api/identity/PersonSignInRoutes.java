package dev.parley.api.identity;

import dev.parley.http.ApiTokens;
import dev.parley.http.LoginRoutes;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.identity.Action;
import dev.parley.identity.Identities;
import dev.parley.identity.PersonSignIns;
import dev.parley.identity.oidc.OidcSignIn;
import dev.parley.identity.oidc.OidcSignIn.FlowReply;
import dev.parley.identity.oidc.SignInRefused;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// `/api/sign-in` and `/api/sign-out`: people sign in at an OpenID provider.
final class PersonSignInRoutes {

  private static final String OFFERS = "/api/sign-in";
  private static final String START = OFFERS + "/start";
  private static final String CALLBACK = OFFERS + "/callback";

  /// The cookie of the browser that has started a sign-in. Not `Strict`, because the provider's page
  /// leads to the callback.
  private static final String COOKIE = "parley_sign_in";

  /// A way to sign in, and the link to it.
  record SignInOffer(String name, String url) {}

  /// A page at which the browser can also end its sign-in at the provider; null if there is none.
  record SignedOut(@Nullable String url) {}

  private final Identities identities;
  private final Administration administration;
  private final Optional<String> publicUrl;
  private final Optional<OidcSignIn> oidc;

  PersonSignInRoutes(
      Identities identities,
      Administration administration,
      Optional<String> publicUrl,
      Optional<OidcSignIn> oidc) {
    this.identities = identities;
    this.administration = administration;
    this.publicUrl = publicUrl;
    this.oidc = oidc;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
                OFFERS,
                "Lists the ways in which people can sign in, besides tokens and invitations",
                ResponseDescription.page(SignInOffer.class),
                this::offers)
            .doing(Action.NONE),
        Route.get(
                START,
                "Redirects a browser to the OpenID provider",
                ResponseDescription.other("text/html"),
                List.of(Parameter.query("to", "the path to which the browser returns; usually /")),
                this::start)
            .doing(Action.NONE),
        Route.get(
                CALLBACK,
                "Completes a sign-in with the OpenID provider, and sets a cookie",
                ResponseDescription.other("text/html"),
                List.of(
                    Parameter.query("state", "identifies the sign-in"),
                    Parameter.query("code", "the authorization code"),
                    Parameter.query("error", "why there is no code"),
                    Parameter.query("iss", "the issuer"),
                    Parameter.ANY_OTHER),
                this::callback)
            .doing(Action.NONE),
        Route.withoutBody(
                Method.POST,
                "/api/sign-out",
                "Ends the sign-in of a person; the reply says where to end it at the provider",
                ResponseDescription.one(SignedOut.class),
                this::signOut)
            .doing(Action.NONE));
  }

  private Reply offers(Request request) {
    var offers = oidc.map(one -> new SignInOffer(one.name(), START)).stream().toList();
    return new Reply.Json(200, new ResultPage<>(offers, null));
  }

  private OidcSignIn configured() {
    return oidc.orElseThrow(
        () -> new Rejection.NotFound("this server has no signIn in its configuration"));
  }

  private Reply start(Request request) {
    var signIn = configured();
    administration.checkPerson(request);
    try {
      var started =
          signIn.start(
              request.query("to").orElse("/"),
              InvitationRoutes.base(publicUrl, request) + CALLBACK);
      var headers = new HashMap<String, String>();
      headers.put("Location", started.url());
      headers.put("Cache-Control", "no-store");
      headers.put("Set-Cookie", cookie(request, started.browser()));
      return new Reply.Empty(303, headers);
    } catch (SignInRefused refused) {
      return page(refused.code(), String.valueOf(refused.getMessage()));
    }
  }

  private static String cookie(Request request, String value) {
    return "%s=%s; Path=%s; HttpOnly; SameSite=Lax; Max-Age=%d%s"
        .formatted(
            COOKIE,
            value,
            OFFERS,
            OidcSignIn.FLOW_TIME.toSeconds(),
            request.secure() ? "; Secure" : "");
  }

  private static String browser(Request request) {
    return Arrays.stream(request.header("Cookie").orElse("").split(";", -1))
        .map(String::strip)
        .filter(cookie -> cookie.startsWith(COOKIE + "="))
        .map(cookie -> cookie.substring(COOKIE.length() + 1))
        .findFirst()
        .orElse("");
  }

  private Reply callback(Request request) {
    var signIn = configured();
    // An agent must not become a person.
    administration.checkPerson(request);
    var reply =
        new FlowReply(
            request.query("state").orElse(""),
            request.query("code").orElse(""),
            request.query("error").orElse(""),
            request.query("iss").orElse(null),
            browser(request));
    try {
      var completed = signIn.complete(reply, request.remoteAddress());
      var secret = completed.signIn().secret();
      identities.find(secret, request.remoteAddress()).ifPresent(request::noteSignIn);
      var headers =
          new HashMap<>(LoginRoutes.setCookie(request, secret, PersonSignIns.SIGN_IN_TIME));
      headers.put("Location", completed.to());
      headers.put("Cache-Control", "no-store");
      return new Reply.Empty(303, headers);
    } catch (SignInRefused refused) {
      request.noteSignInProblem(refused.code());
      return page(refused.code(), String.valueOf(refused.getMessage()));
    } catch (Rejection.Forbidden | Rejection.Conflict | Rejection.Busy rejected) {
      request.noteSignInProblem(rejected.code());
      return page(rejected.code(), String.valueOf(rejected.getMessage()));
    }
  }

  private static Reply page(String code, String reason) {
    return InvitationRoutes.html(
        403,
        "<h1>You are not signed in</h1><p>%s (%s)</p><p><a href=\"%s\">Try again</a></p>"
            .formatted(InvitationRoutes.escape(reason), InvitationRoutes.escape(code), START));
  }

  private Reply signOut(Request request) {
    var token =
        ApiTokens.fromHeaders(
            request.header("Authorization").orElse(null), request.header("Cookie").orElse(null));
    if (token != null) {
      identities.signOut(token);
    }
    var back = InvitationRoutes.base(publicUrl, request) + "/";
    return new Reply.Json(
        200,
        new SignedOut(oidc.flatMap(signIn -> signIn.logoutUrl(back)).orElse(null)),
        LoginRoutes.setCookie(request, "", Duration.ZERO));
  }
}
