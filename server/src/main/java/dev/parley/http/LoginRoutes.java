package dev.parley.http;

import dev.parley.identity.Action;
import dev.parley.identity.IssuedCredentials;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// `POST /api/login` and `/api/logout`: a cookie for clients that cannot send headers, such as
/// `EventSource`.
public final class LoginRoutes {

  private static final String ATTRIBUTES = "; Path=/; HttpOnly; SameSite=Strict";

  /// The request: the token to log in with.
  record Login(String token) {}

  /// The reply: the principal of the token.
  record LoggedIn(String principal) {}

  private final ApiTokens apiTokens;

  LoginRoutes(ApiTokens apiTokens) {
    this.apiTokens = apiTokens;
  }

  List<Route> routes() {
    return List.of(
        Route.withBody(
                Route.Method.POST,
                "/api/login",
                new Route.RouteDescription(
                    "Sets a cookie that holds the token",
                    List.of(),
                    Login.class,
                    ResponseDescription.one(LoggedIn.class)),
                this::login)
            .doing(Action.NONE),
        Route.withoutBody(
                Route.Method.POST,
                "/api/logout",
                "Clears the cookie, and ends the sign-in of a person",
                ResponseDescription.empty(),
                this::logout)
            .doing(Action.NONE));
  }

  private Reply login(Request request) {
    var token = request.body(Login.class).token();
    var caller = apiTokens.caller(token, request.remoteAddress());
    request.noteSignIn(caller);
    var principal = caller.principal();
    if (!apiTokens.required() && !token.startsWith(IssuedCredentials.PREFIX)) {
      return new Reply.Json(200, new LoggedIn(principal));
    }
    if (!token.matches("[!-~&&[^;,\"\\\\]]+")) {
      throw new Rejection.Invalid("this token has characters that a cookie cannot hold");
    }
    return new Reply.Json(
        200, new LoggedIn(principal), Map.of("Set-Cookie", cookie(request, token, "")));
  }

  private Reply logout(Request request) {
    var token =
        ApiTokens.fromHeaders(
            request.header("Authorization").orElse(null), request.header("Cookie").orElse(null));
    if (token != null) {
      apiTokens.signOut(token);
    }
    return new Reply.Empty(204, Map.of("Set-Cookie", cookie(request, "", "; Max-Age=0")));
  }

  /// The header that sets the cookie for a credential.
  public static Map<String, String> setCookie(Request request, String credential, Duration age) {
    return Map.of("Set-Cookie", cookie(request, credential, "; Max-Age=" + age.toSeconds()));
  }

  private static String cookie(Request request, String value, String age) {
    return ApiTokens.COOKIE + "=" + value + ATTRIBUTES + age + (request.secure() ? "; Secure" : "");
  }
}
