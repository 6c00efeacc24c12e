package dev.parley.identity.oidc;

import com.nimbusds.jwt.JWTClaimsSet;
import dev.parley.identity.ExternalPeople;
import dev.parley.identity.ExternalPeople.ExternalPerson;
import dev.parley.identity.PersonSignIns.IssuedSignIn;
import dev.parley.identity.Role;
import dev.parley.identity.oidc.PendingFlows.PendingFlow;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Signs people in with OpenID Connect: authorization code flow with PKCE. For many threads.
public final class OidcSignIn implements AutoCloseable {

  /// How long a person has to sign in at the provider.
  public static final Duration FLOW_TIME = PendingFlows.FLOW_TIME;

  private static final int SECRET_BYTES = 32;
  private static final int PATH_MAX = 2_000;

  /// A path of this server: visible ASCII, and no second slash or backslash, which browsers read as
  /// the start of a host.
  private static final Pattern LOCAL_PATH = Pattern.compile("/(?![/\\\\])[!-\\[\\]-~]*");

  /// A started sign-in: where the browser goes, and the secret that it keeps in a cookie.
  public record StartedFlow(String url, String browser) {
    @Override
    public String toString() {
      return "a sign-in";
    }
  }

  /// What the provider has sent through the browser, with the secret of the cookie.
  public record FlowReply(
      String state, String code, String error, @Nullable String issuer, String browser) {
    @Override
    public String toString() {
      return "a reply";
    }
  }

  /// A completed sign-in: its secret, and where the browser goes.
  public record CompletedFlow(IssuedSignIn signIn, String to) {}

  private final OidcSettings settings;
  private final OutgoingHttpClient http;
  private final ExternalPeople people;
  private final Time time;
  private final OidcProvider provider;
  private final IdTokenVerifier verifier;
  private final PendingFlows flows;
  private final SecureRandom random = new SecureRandom();

  /// Closes `http` when it is closed.
  public OidcSignIn(
      OidcSettings settings, OutgoingHttpClient http, ExternalPeople people, Time time) {
    this.settings = settings;
    this.http = http;
    this.people = people;
    this.time = time;
    provider = new OidcProvider(settings, http, time);
    verifier = new IdTokenVerifier(settings, provider);
    flows = new PendingFlows(time);
  }

  /// What the page calls the provider.
  public String name() {
    return settings.name();
  }

  /// Starts a sign-in.
  ///
  /// @param to the path of this server to which the browser goes afterwards
  /// @throws Rejection.Invalid if `to` is not a path of this server
  /// @throws SignInRefused if the provider cannot be used
  public StartedFlow start(String to, String redirectUri) {
    if (!LOCAL_PATH.matcher(to).matches() || (to.length() > PATH_MAX)) {
      throw new Rejection.Invalid("to must be a path of this server, such as /");
    }
    var metadata = provider.metadata();
    var state = secret();
    var flow = new PendingFlow(secret(), secret(), secret(), redirectUri, to, time.instant());
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("response_type", "code");
    parameters.put("client_id", settings.clientId());
    parameters.put("redirect_uri", redirectUri);
    parameters.put("scope", String.join(" ", settings.scopes()));
    parameters.put("state", state);
    parameters.put("nonce", flow.nonce());
    parameters.put("code_challenge", challenge(flow.verifier()));
    parameters.put("code_challenge_method", "S256");
    flows.add(state, flow);
    return new StartedFlow(
        withQuery(metadata.authorization(), OidcProvider.query(parameters)), flow.browser());
  }

  private static String withQuery(String url, String query) {
    return url + (url.contains("?") ? "&" : "?") + query;
  }

  private String secret() {
    var bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static String challenge(String verifier) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(digest.digest(verifier.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /// Completes a sign-in.
  ///
  /// @throws SignInRefused if it is not valid, or the person may not sign in
  /// @throws Rejection.Forbidden if the person is disabled
  public CompletedFlow complete(FlowReply reply, InetAddress from) {
    var flow =
        flows
            .take(reply.state())
            .filter(pending -> sameText(pending.browser(), reply.browser()))
            .orElseThrow(
                () ->
                    new SignInRefused(
                        "wrong-state",
                        "this sign-in was completed before, has expired, or was started in another"
                            + " browser"));
    checkIssuer(reply.issuer());
    if (!reply.error().isEmpty() || reply.code().isEmpty()) {
      throw new SignInRefused("provider-refused", "the provider has not signed you in");
    }
    var tokens = provider.exchange(reply.code(), flow.verifier(), flow.redirectUri());
    var claims = verifier.verify(tokens.idToken(), flow.nonce(), flow.startedAt(), time.instant());
    var about = about(claims, tokens);
    return new CompletedFlow(people.signIn(person(claims, about), from), flow.to());
  }

  private static boolean sameText(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  /// RFC 9207: the reply must come from the provider to which the browser was sent.
  private void checkIssuer(@Nullable String issuer) {
    if (issuer == null ? provider.metadata().namesItself() : !issuer.equals(settings.issuer())) {
      throw new SignInRefused("wrong-issuer", "the reply is from another provider");
    }
  }

  /// The claims of the token, and those that only the provider's user information has.
  private ObjectNode about(JWTClaimsSet claims, OidcProvider.IssuedTokens tokens) {
    var about = Json.read(claims.toString().getBytes(StandardCharsets.UTF_8), ObjectNode.class);
    var groups = settings.groupsClaim();
    var complete =
        about.has("email") && about.has("name") && ((groups == null) || about.has(groups));
    if (complete) {
      return about;
    }
    provider
        .userInfo(tokens)
        .ifPresent(
            more -> {
              if (!more.path("sub").asString("").equals(claims.getSubject())) {
                throw new SignInRefused(
                    "wrong-subject", "the provider's user information is about another person");
              }
              for (var claim : more.properties()) {
                if (!about.has(claim.getKey())) {
                  about.set(claim.getKey(), claim.getValue());
                }
              }
            });
    return about;
  }

  private ExternalPerson person(JWTClaimsSet claims, ObjectNode about) {
    var subject = claims.getSubject();
    if (!mayUse(about)) {
      people.withdraw(settings.issuer(), subject);
      throw new SignInRefused(
          "email-not-allowed",
          "your e-mail address is not verified, or its domain may not sign in");
    }
    var claim = settings.groupsClaim();
    var groups = claim == null ? null : groups(about.path(claim));
    var roles = roles(groups == null ? Set.of() : groups);
    if (roles.isEmpty()) {
      people.withdraw(settings.issuer(), subject);
      throw new SignInRefused(
          "no-role", "you belong to no group that may use this server; ask its administrator");
    }
    var email = about.path("email").asString("");
    var wanted =
        Optional.of(about.path("preferred_username").asString(""))
            .filter(name -> !name.isBlank())
            .orElse(email.isBlank() ? subject : email);
    var at = wanted.indexOf('@');
    return new ExternalPerson(
        settings.issuer(),
        subject,
        at > 0 ? wanted.substring(0, at) : wanted,
        about.path("name").isString() ? about.path("name").asString() : null,
        settings.tenant(),
        roles,
        groups);
  }

  /// True if the e-mail address of the person is allowed.
  private boolean mayUse(ObjectNode about) {
    if (settings.emailDomains().isEmpty()) {
      return true;
    }
    var email = about.path("email").asString("").toLowerCase(Locale.ROOT);
    var verified = about.path("email_verified");
    var domain = email.substring(email.lastIndexOf('@') + 1);
    return verified.isBoolean() && verified.asBoolean() && settings.emailDomains().contains(domain);
  }

  /// The groups of a claim: a list of texts, or one text.
  private static Set<String> groups(JsonNode claim) {
    var found = new HashSet<String>();
    if (claim.isString()) {
      found.add(claim.asString());
    }
    for (var item : claim) {
      if (item.isString()) {
        found.add(item.asString());
      }
    }
    return found;
  }

  private Set<Role> roles(Set<String> groups) {
    var roles = EnumSet.noneOf(Role.class);
    settings
        .roles()
        .forEach(
            (group, given) -> {
              if (group.equals(OidcSettings.EVERYONE) || groups.contains(group)) {
                roles.addAll(given);
              }
            });
    return roles;
  }

  /// Where a browser ends its sign-in at the provider, too, and returns from; empty if the provider
  /// offers none, or cannot be used now.
  public Optional<String> logoutUrl(String returnTo) {
    try {
      return Optional.ofNullable(provider.metadata().logout())
          .map(
              url -> {
                var parameters = new LinkedHashMap<String, String>();
                parameters.put("client_id", settings.clientId());
                parameters.put("post_logout_redirect_uri", returnTo);
                return withQuery(url, OidcProvider.query(parameters));
              });
    } catch (SignInRefused unusable) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
