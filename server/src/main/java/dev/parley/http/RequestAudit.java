package dev.parley.http;

import dev.parley.audit.AuditEvent;
import dev.parley.audit.AuditEvent.Actor;
import dev.parley.audit.AuditEvent.Result;
import dev.parley.audit.AuditTrail;
import dev.parley.identity.Caller;
import dev.parley.identity.CallerKind;
import dev.parley.protocol.Rejection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Records requests in the audit trail: refused ones, and those that administer, operate, answer,
/// share, delete or sign in. Which these are follows from the action of the route.
public final class RequestAudit {

  /// Acts that the action of the route does not tell: to log in and out, to create and to revoke
  /// credentials and rules.
  private static final Set<String> OTHER_ACTS =
      Set.of(
          "POST /api/keys",
          "DELETE /api/keys/{key}",
          "DELETE /api/me/sessions/{session}",
          "DELETE /api/rules/{id}",
          "POST /api/login",
          "POST /api/logout",
          "POST /api/invitations/accept",
          "POST " + JettyHandler.INVITATION,
          "GET " + JettyHandler.SIGN_IN_CALLBACK,
          "POST /api/sign-out");

  private static final int ERRORS = 400;

  /// Names of variables in paths whose values are secrets.
  private static final Set<String> SECRETS =
      Set.of("token", "secret", "link", "ticket", "code", "invitation");

  private final AuditTrail trail;

  RequestAudit(AuditTrail trail) {
    this.trail = trail;
  }

  /// The actor of a request.
  static Actor actor(Request request) {
    return actor(request.caller());
  }

  /// The actor behind a credential.
  public static Actor actor(Caller caller) {
    return new Actor(
        caller.principal(),
        caller.kind().name().toLowerCase(Locale.ROOT),
        caller.credential(),
        caller.tenant(),
        caller.address().getHostAddress());
  }

  /// Rejects a request that would have to be recorded but cannot.
  ///
  /// @throws Rejection.Unavailable if the trail cannot be written and the configuration requires it
  void checkWritable(Route route) {
    if (isAct(route)) {
      trail.checkWritable();
    }
  }

  /// Answers are recorded where they are accepted, by whatever API.
  private static boolean isAct(Route route) {
    return switch (route.action()) {
      case OWN, ADMINISTER, OPERATE -> route.method() != Route.Method.GET;
      case NONE, ANSWER -> OTHER_ACTS.contains(name(route));
      case READ, WRITE -> false;
    };
  }

  /// Records that a request was completed.
  void completed(Request request, Route route, int status) {
    if (!request.signInProblem().isEmpty()) {
      trail.recordRefusal(
          event(actor(request), route, request, Result.REFUSED, request.signInProblem()));
    } else if (isAct(route)) {
      var result = status < ERRORS ? Result.SUCCEEDED : Result.FAILED;
      trail.record(event(actor(request.signedInOrCaller()), route, request, result, ""));
    }
  }

  private static String name(Route route) {
    return route.method() + " " + route.path();
  }

  /// Records that a request was rejected by its operation. What does not exist is recorded in the
  /// same way whether it is hidden from the caller or not, so that the time of the reply reveals
  /// nothing.
  void rejected(Request request, Route route, Rejection rejection) {
    var result = result(request, route, rejection);
    if (result.isPresent()) {
      trail.recordRefusal(event(actor(request), route, request, result.get(), rejection.code()));
    }
  }

  private static Optional<Result> result(Request request, Route route, Rejection rejection) {
    return switch (rejection) {
      case Rejection.Forbidden _, Rejection.Unauthorized _ -> Optional.of(Result.REFUSED);
      case Rejection.NotFound _ ->
          request.caller().kind() == CallerKind.LOCAL
              ? Optional.empty()
              : Optional.of(Result.REFUSED);
      case Rejection.Gone _,
          Rejection.Invalid _,
          Rejection.Conflict _,
          Rejection.Stale _,
          Rejection.Damaged _,
          Rejection.TooLarge _,
          Rejection.Busy _,
          Rejection.Unavailable _ ->
          isAct(route) ? Optional.of(Result.FAILED) : Optional.empty();
    };
  }

  /// Records a wrong credential, or one that was not tried because there were too many wrong ones.
  void signInFailed(RequestSource source, Rejection rejection) {
    var actor = new Actor("", "unknown", "", "", source.address().getHostAddress());
    trail.recordRefusal(
        new AuditEvent(actor, "sign-in-failed", "", Result.REFUSED, rejection.code(), Map.of()));
  }

  private static AuditEvent event(
      Actor actor, Route route, Request request, Result result, String code) {
    return new AuditEvent(actor, name(route), target(request, route), result, code, Map.of());
  }

  /// The values of the variables in the path, except secrets.
  private static String target(Request request, Route route) {
    var values = new TreeMap<String, String>();
    for (var name : route.variableNames()) {
      request
          .variable(name)
          .filter(_ -> !SECRETS.contains(name))
          .ifPresent(value -> values.put(name.equals("c") ? "context" : name, value));
    }
    return values.entrySet().stream()
        .map(value -> value.getKey() + ":" + value.getValue())
        .collect(Collectors.joining(" "));
  }
}
