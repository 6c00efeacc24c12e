package dev.parley.api.identity;

import dev.parley.http.LoginRoutes;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.http.Route.Method;
import dev.parley.http.Route.RouteDescription;
import dev.parley.identity.Action;
import dev.parley.identity.Identities;
import dev.parley.identity.PersonSignIns;
import dev.parley.identity.PersonSignIns.Invitation;
import dev.parley.identity.PersonSignIns.IssuedSignIn;
import dev.parley.identity.Role;
import dev.parley.protocol.Identity.InvitationView;
import dev.parley.protocol.Identity.NewInvitation;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// `/api/invitations`, and the page on which an invited person chooses a name.
///
/// Opening the link changes nothing, because programs that look at mails open links, too. The form
/// accepts the invitation.
final class InvitationRoutes {

  private static final String ALL = "/api/invitations";
  private static final String PAGE = "/invite";
  private static final String HTML = "text/html; charset=utf-8";

  private static final Map<String, String> PAGE_HEADERS =
      Map.of(
          "Cache-Control",
          "no-store",
          "Content-Security-Policy",
          "default-src 'none'; style-src 'unsafe-inline'; form-action 'self';"
              + " frame-ancestors 'none'",
          "Referrer-Policy",
          "same-origin");

  /// The acceptance of an invitation.
  record Acceptance(String token, @Nullable String name, @Nullable String displayName) {}

  /// The name of the person that has signed in.
  record SignedInPerson(String principal, Instant expiresAt) {}

  private final Identities identities;
  private final Administration administration;
  private final Optional<String> publicUrl;

  InvitationRoutes(
      Identities identities, Administration administration, Optional<String> publicUrl) {
    this.identities = identities;
    this.administration = administration;
    this.publicUrl = publicUrl;
  }

  List<Route> routes() {
    return List.of(
        Route.get(
                ALL,
                "Lists the open invitations of a tenant",
                ResponseDescription.page(InvitationView.class),
                List.of(PeopleRoutes.TENANT),
                this::list)
            .doing(Action.ADMINISTER),
        Route.withBody(
                Method.POST,
                ALL,
                new RouteDescription(
                    "Invites a person; only this reply has the link",
                    List.of(),
                    NewInvitation.class,
                    ResponseDescription.one(201, InvitationView.class)),
                this::invite)
            .doing(Action.ADMINISTER),
        Route.withoutBody(
                Method.DELETE,
                ALL + "/{invitation}",
                "Withdraws an invitation",
                ResponseDescription.empty(),
                this::withdraw)
            .doing(Action.ADMINISTER),
        Route.withBody(
                Method.POST,
                ALL + "/accept",
                new RouteDescription(
                    "Accepts an invitation, signs the person in, and sets a cookie",
                    List.of(),
                    Acceptance.class,
                    ResponseDescription.one(201, SignedInPerson.class)),
                this::accept)
            .doing(Action.NONE),
        Route.get(
                PAGE,
                "Shows a form to accept an invitation",
                ResponseDescription.other("text/html"),
                List.of(Parameter.query("token", "the secret of the invitation")),
                this::page)
            .doing(Action.NONE),
        Route.withoutBody(
                Method.POST,
                PAGE,
                "Accepts an invitation with that form, and shows the page",
                ResponseDescription.other("text/html"),
                this::submit)
            .doing(Action.NONE));
  }

  private Reply list(Request request) {
    var found =
        identities.signIns().invitations(administration.tenant(request)).stream()
            .map(invitation -> view(invitation, null))
            .toList();
    return new Reply.Json(200, new ResultPage<>(found, null));
  }

  private Reply invite(Request request) {
    administration.checkPerson(request);
    var caller = request.caller();
    var wanted = request.body(NewInvitation.class);
    var roles = wanted.roles() == null ? Set.of(Role.MEMBER) : Role.parse(wanted.roles());
    Administration.checkMayGive(caller, roles);
    if (wanted.name() != null && identities.taken(wanted.name())) {
      throw new Rejection.Conflict("name-taken", "choose another name: " + wanted.name());
    }
    var issued =
        identities
            .signIns()
            .invite(
                new Invitation(
                    "",
                    "",
                    wanted.name(),
                    administration.tenant(
                        caller, wanted.tenant() == null ? caller.tenant() : wanted.tenant()),
                    roles,
                    wanted.groups() == null ? Set.of() : Set.copyOf(new TreeSet<>(wanted.groups())),
                    caller.principal(),
                    wanted.expiresAt() == null
                        ? identities.signIns().now().plus(PersonSignIns.INVITATION_TIME)
                        : wanted.expiresAt()));
    return new Reply.Json(
        201, view(issued.invitation(), base(request) + PAGE + "?token=" + issued.secret()));
  }

  private String base(Request request) {
    return base(publicUrl, request);
  }

  /// Where the browser that sends the request reaches the server.
  static String base(Optional<String> publicUrl, Request request) {
    return publicUrl.orElseGet(
        () ->
            (request.secure() ? "https://" : "http://")
                + request.header("Host").orElse("127.0.0.1:7070"));
  }

  private Reply withdraw(Request request) {
    administration.checkPerson(request);
    identities.signIns().withdraw(request.caller().tenant(), request.path("invitation"));
    return new Reply.Empty(204);
  }

  private Reply accept(Request request) {
    var issued = accept(request, request.body(Acceptance.class));
    return new Reply.Json(
        201,
        new SignedInPerson(issued.signIn().person(), issued.signIn().expiresAt()),
        LoginRoutes.setCookie(request, issued.secret(), PersonSignIns.SIGN_IN_TIME));
  }

  private IssuedSignIn accept(Request request, Acceptance acceptance) {
    // An agent must not become a person.
    administration.checkPerson(request);
    var issued =
        identities
            .signIns()
            .accept(
                acceptance.token(),
                acceptance.name(),
                acceptance.displayName(),
                request.caller().address(),
                identities::taken);
    identities.find(issued.secret(), request.remoteAddress()).ifPresent(request::noteSignIn);
    return issued;
  }

  private Reply page(Request request) {
    var token = request.query("token").orElse("");
    return identities
        .signIns()
        .invitation(token)
        .map(invitation -> form(200, token, invitation.name(), ""))
        .orElseGet(() -> ended("This invitation was used or withdrawn, or has expired."));
  }

  private Reply submit(Request request) {
    var fields = fields(request.text());
    var token = fields.getOrDefault("token", "");
    var fixed = identities.signIns().invitation(token).map(Invitation::name).orElse(null);
    try {
      var acceptance =
          new Acceptance(token, fields.getOrDefault("name", ""), fields.get("displayName"));
      var issued = accept(request, acceptance);
      var headers =
          new HashMap<>(
              LoginRoutes.setCookie(request, issued.secret(), PersonSignIns.SIGN_IN_TIME));
      headers.put("Location", "/");
      return new Reply.Empty(303, headers);
    } catch (Rejection.NotFound over) {
      request.noteSignInProblem(over.code());
      return ended("This invitation was used or withdrawn, or has expired.");
    } catch (Rejection.Invalid | Rejection.Conflict wrong) {
      return form(400, token, fixed, String.valueOf(wrong.getMessage()));
    }
  }

  private static Map<String, String> fields(String body) {
    var fields = new HashMap<String, String>();
    for (var pair : body.split("&", -1)) {
      var equals = pair.indexOf('=');
      if (equals > 0) {
        try {
          fields.put(
              pair.substring(0, equals),
              URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException malformed) {
          throw new Rejection.Invalid("the form is not well formed");
        }
      }
    }
    return fields;
  }

  private static Reply form(int status, String token, @Nullable String name, String problem) {
    var fixed = name == null ? "" : " readonly value=\"" + escape(name) + "\"";
    return html(
        status,
        """
        <h1>Join Parley</h1>
        <p role="alert">%s</p>
        <form method="post" action="/invite">
        <input type="hidden" name="token" value="%s">
        <p><label>Name, a-z and 0-9<br><input name="name" required maxlength="63" autofocus%s></label></p>
        <p><label>Full name<br><input name="displayName" maxlength="200"></label></p>
        <p><button>Join</button></p>
        </form>
        """
            .formatted(escape(problem), escape(token), fixed));
  }

  private static Reply ended(String text) {
    return html(
        404,
        "<h1>Parley</h1><p>"
            + escape(text)
            + " Ask for another one, or <a href=\"/\">sign in</a>.</p>");
  }

  /// A small page.
  static Reply html(int status, String body) {
    var page =
        """
        <!doctype html><html lang="en"><meta charset="utf-8"><title>Parley</title>
        <meta name="viewport" content="width=device-width">
        <style>body{font:1rem/1.5 system-ui;max-width:24rem;margin:4rem auto;padding:0 1rem}</style>
        %s</html>
        """
            .formatted(body);
    return new Reply.Bytes(status, HTML, page.getBytes(StandardCharsets.UTF_8), PAGE_HEADERS);
  }

  /// The text in HTML.
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private static InvitationView view(Invitation invitation, @Nullable String url) {
    return new InvitationView(
        invitation.id(),
        invitation.name(),
        invitation.tenant(),
        invitation.roles().stream().sorted().map(Role::wire).toList(),
        List.copyOf(new TreeSet<>(invitation.groups())),
        invitation.createdBy(),
        invitation.expiresAt(),
        url);
  }
}
