package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.http.Sha256;
import dev.parley.protocol.Json;
import dev.parley.runtime.ClockTime;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Which ID tokens a server accepts, from a provider that issues any.
class OidcTokenTest {

  private static final String ADMIN = "the-token-of-the-administrator";
  private static final Instant NOW = Instant.parse("2026-11-19T12:00:00Z");
  private static final AtomicReference<Duration> PASSED = new AtomicReference<>(Duration.ZERO);

  private static JWK key;
  private static TestOidcProvider provider;
  private static TestServer server;

  /// Time that a test moves, for deadlines, too.
  private static final class MovedTime extends ClockTime {
    MovedTime() {
      super(() -> NOW.plus(PASSED.get()));
    }

    @Override
    public long nanos() {
      return super.nanos() + PASSED.get().toNanos();
    }
  }

  /// A sign-in that a browser has started.
  private record Started(String state, String nonce, String cookie) {}

  /// A token that must not be accepted, and the reason.
  record Forgery(String name, String code, Forger forger) {
    @Override
    public String toString() {
      return name;
    }
  }

  /// Makes a token out of valid claims.
  interface Forger {
    String token(JWTClaimsSet.Builder claims) throws JOSEException;
  }

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    key = TestOidcProvider.rsa("first");
    provider = new TestOidcProvider(key);
    server =
        TestServer.configured(
            folder,
            """
            auth:
              tokens: [{name: admin, administer: true, sha256: %s}]
            signIn: {issuer: "%s", clientId: parley, emailDomains: [Example.org]}
            """
                .formatted(HexFormat.of().formatHex(Sha256.of(ADMIN)), provider.issuer()),
            new MovedTime());
  }

  @AfterAll
  static void stop() {
    server.close();
    provider.close();
  }

  private static String parameter(String url, String name) {
    var found = Pattern.compile("[?&]" + name + "=([^&]*)").matcher(url);
    assertThat(found.find()).as(url).isTrue();
    return found.group(1);
  }

  private static Started started() {
    var reply = server.get("/api/sign-in/start");
    assertThat(reply.statusCode()).isEqualTo(303);
    var url = reply.headers().firstValue("Location").orElseThrow();
    assertThat(parameter(url, "code_challenge_method")).isEqualTo("S256");
    var cookie = reply.headers().firstValue("Set-Cookie").orElseThrow();
    assertThat(cookie).contains("HttpOnly", "SameSite=Lax", "Max-Age=600");
    return new Started(
        parameter(url, "state"), parameter(url, "nonce"), cookie.substring(0, cookie.indexOf(';')));
  }

  private static JWTClaimsSet.Builder claims(Started started, String subject) {
    var now = NOW.plus(PASSED.get());
    return new JWTClaimsSet.Builder()
        .issuer(provider.issuer())
        .audience("parley")
        .subject(subject)
        .issueTime(Date.from(now))
        .expirationTime(Date.from(now.plusSeconds(300)))
        .claim("nonce", started.nonce())
        .claim("name", "Somebody")
        .claim("email", subject + "@example.org")
        .claim("email_verified", true);
  }

  private static HttpResponse<String> callback(Started started, String token, String more) {
    provider.issue(token);
    return server.get(
        "/api/sign-in/callback?code=c&session_state=x&state=" + started.state() + more,
        "Cookie",
        started.cookie(),
        "Sec-Fetch-Site",
        "cross-site",
        "Sec-Fetch-Mode",
        "navigate");
  }

  private static HttpResponse<String> callback(Started started, String token) {
    return callback(started, token, "");
  }

  private static String session(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(303);
    assertThat(reply.headers().firstValue("Location")).contains("/");
    var cookie = reply.headers().firstValue("Set-Cookie").orElseThrow();
    assertThat(cookie).startsWith("parley_token=parley_session_").contains("HttpOnly", "Strict");
    return cookie.substring(0, cookie.indexOf(';'));
  }

  private static void assertRefused(HttpResponse<String> reply, String code) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(403);
    assertThat(reply.body()).contains("(" + code + ")");
    assertThat(reply.headers().firstValue("Set-Cookie")).isEmpty();
  }

  private static String principal(String session) {
    var reply = server.get("/api/me", "Cookie", session);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return Json.mapper().readTree(reply.body()).path("principal").asString();
  }

  private static void pass(Duration duration) {
    PASSED.set(PASSED.get().plus(duration));
  }

  private static Date at(long seconds) {
    return Date.from(NOW.plus(PASSED.get()).plusSeconds(seconds));
  }

  private static Forgery claimed(String name, String code, ClaimsChange change) {
    return new Forgery(
        name, code, claims -> TestOidcProvider.signed(key, change.of(claims).build()));
  }

  /// Changes valid claims.
  interface ClaimsChange {
    JWTClaimsSet.Builder of(JWTClaimsSet.Builder claims);
  }

  static Stream<Forgery> forgeries() {
    return Stream.of(
        claimed("other issuer", "wrong-issuer", one -> one.issuer("https://evil.example")),
        claimed("no issuer", "wrong-issuer", one -> one.issuer(null)),
        claimed("other audience", "wrong-audience", one -> one.audience("other")),
        claimed("two audiences", "wrong-audience", one -> one.audience(List.of("parley", "b"))),
        claimed("other party", "wrong-audience", one -> one.claim("azp", "other")),
        claimed("expired", "token-expired", one -> one.expirationTime(at(-61))),
        claimed("no expiry", "token-expired", one -> one.expirationTime(null)),
        claimed("old", "wrong-issue-time", one -> one.issueTime(at(-120))),
        claimed("from the future", "wrong-issue-time", one -> one.issueTime(at(120))),
        claimed("no issue time", "wrong-issue-time", one -> one.issueTime(null)),
        claimed("not yet", "wrong-issue-time", one -> one.notBeforeTime(at(120))),
        claimed("other nonce", "wrong-nonce", one -> one.claim("nonce", "other")),
        claimed("no nonce", "wrong-nonce", one -> one.claim("nonce", null)),
        claimed("nobody", "wrong-subject", one -> one.subject(null)),
        claimed("foreign e-mail", "email-not-allowed", one -> one.claim("email", "a@evil.example")),
        claimed(
            "subdomain",
            "email-not-allowed",
            one -> one.claim("email", "a@example.org.evil.example")),
        claimed("unverified", "email-not-allowed", one -> one.claim("email_verified", false)),
        claimed("verified text", "email-not-allowed", one -> one.claim("email_verified", "true")),
        new Forgery("no algorithm", "wrong-token", one -> new PlainJWT(one.build()).serialize()),
        new Forgery("no token", "wrong-token", _ -> "a.b.c"),
        new Forgery("public key as secret", "wrong-algorithm", OidcTokenTest::confused),
        new Forgery(
            "other key of the same name",
            "wrong-signature",
            one -> TestOidcProvider.signed(TestOidcProvider.rsa("first"), one.build())),
        new Forgery(
            "other kind of key",
            "unknown-key",
            one -> TestOidcProvider.signed(TestOidcProvider.ec("first"), one.build())));
  }

  /// HS256 with the text of the public key as the secret.
  private static String confused(JWTClaimsSet.Builder claims) throws JOSEException {
    var header = new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("first").build();
    var jwt = new SignedJWT(header, claims.build());
    jwt.sign(new MACSigner(key.toRSAKey().toRSAPublicKey().getEncoded()));
    return jwt.serialize();
  }

  @ParameterizedTest
  @MethodSource("forgeries")
  void a_forged_token_signs_nobody_in(Forgery forgery) throws JOSEException {
    var started = started();
    var reply = callback(started, forgery.forger().token(claims(started, "mallory")));
    assertRefused(reply, forgery.code());
    var audited =
        server.get(
            "/api/audit?limit=1000&action=GET%20/api/sign-in/callback",
            "Authorization", "Bearer " + ADMIN);
    assertThat(audited.body()).contains("\"" + forgery.code() + "\"");
    assertThat(server.get("/api/people/mallory", "Authorization", "Bearer " + ADMIN).statusCode())
        .isEqualTo(404);
  }

  @Test
  void a_sign_in_can_be_completed_once_and_only_by_its_browser() throws JOSEException {
    var started = started();
    var token = TestOidcProvider.signed(key, claims(started, "once").build());
    assertThat(principal(session(callback(started, token)))).isEqualTo("once");
    assertRefused(callback(started, token), "wrong-state");

    var victim = started();
    var attacker = new Started(victim.state(), victim.nonce(), started().cookie());
    var stolen = TestOidcProvider.signed(key, claims(victim, "once").build());
    assertRefused(callback(attacker, stolen), "wrong-state");
    assertRefused(callback(new Started("unknown", "", ""), stolen), "wrong-state");

    var mixed = started();
    var fresh = TestOidcProvider.signed(key, claims(mixed, "once").build());
    assertRefused(callback(mixed, fresh, "&iss=https://evil.example"), "wrong-issuer");
  }

  @Test
  void a_sign_in_expires() throws JOSEException {
    var started = started();
    pass(Duration.ofMinutes(10));
    var token = TestOidcProvider.signed(key, claims(started, "late").build());
    assertRefused(callback(started, token), "wrong-state");
  }

  @Test
  void keys_rotate_and_unknown_keys_are_not_fetched_each_time() throws JOSEException {
    var second = TestOidcProvider.ec("second");
    pass(Duration.ofMinutes(2));
    assertThat(signIn(key, "ruth")).isEqualTo("ruth");
    provider.publish(key, second);
    pass(Duration.ofMinutes(2));
    assertThat(signIn(second, "ruth")).isEqualTo("ruth");
    var fetched = provider.keyRequests.get();
    for (var i = 0; i < 5; i++) {
      var started = started();
      var forged =
          TestOidcProvider.signed(TestOidcProvider.ec("other"), claims(started, "x").build());
      assertRefused(callback(started, forged), "unknown-key");
    }
    assertThat(provider.keyRequests.get()).isEqualTo(fetched);
    // A key that the provider withdraws is not accepted for longer than an hour.
    provider.publish(key);
    pass(Duration.ofMinutes(61));
    var started = started();
    var withdrawn = TestOidcProvider.signed(second, claims(started, "ruth").build());
    assertRefused(callback(started, withdrawn), "unknown-key");
  }

  private static String signIn(JWK with, String subject) throws JOSEException {
    var started = started();
    var token = TestOidcProvider.signed(with, claims(started, subject).build());
    return principal(session(callback(started, token)));
  }

  @Test
  void a_person_is_its_subject_and_not_its_name() throws JOSEException {
    var authorization = new String[] {"Authorization", "Bearer " + ADMIN};
    var invitation = server.post("/api/invitations", "{\"name\":\"kim\"}", authorization).body();
    var url = Json.mapper().readTree(invitation).path("url").asString();
    var accepted =
        server.post(
            "/api/invitations/accept",
            "{\"token\":\"" + url.substring(url.indexOf("token=") + 6) + "\"}");
    assertThat(accepted.statusCode()).isEqualTo(201);
    var audited =
        server.get("/api/audit?action=POST%20/api/invitations/accept", authorization).body();
    assertThat(audited).contains("\"principal\":\"kim\"");

    assertThat(signIn(key, "kim")).isEqualTo("kim-2");
    assertThat(signIn(key, "kim")).isEqualTo("kim-2");
    assertThat(signIn(key, "admin")).isEqualTo("admin-2");
    assertThat(signIn(key, "Local")).isEqualTo("local-2");

    var disabled =
        server.send(
            server
                .request("/api/people/kim-2", authorization)
                .header("Content-Type", "application/json")
                .method("PATCH", BodyPublishers.ofString("{\"disabled\":true}")));
    assertThat(disabled.statusCode()).as(disabled.body()).isEqualTo(200);
    var started = started();
    var token = TestOidcProvider.signed(key, claims(started, "kim").build());
    assertRefused(callback(started, token), "person-disabled");
  }

  @Test
  void a_secret_never_appears_on_a_page() throws JOSEException {
    var started = started();
    var reply = callback(started, "a.b.c", "&error=%3Cscript%3E");
    assertRefused(reply, "provider-refused");
    assertThat(reply.body()).doesNotContain("<script").doesNotContain(started.state());
    assertThat(reply.body().getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(2_000);
  }
}
