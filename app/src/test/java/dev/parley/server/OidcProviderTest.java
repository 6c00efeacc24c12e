package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.Sha256;
import dev.parley.protocol.Json;
import dev.parley.socketio.NodeTestClient;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// People sign in at a real OpenID provider: `oidc-provider` from npm.
class OidcProviderTest {

  private static final String ADMIN = "the-token-of-the-administrator";
  private static final String PUBLIC = "https://parley.example.org";

  private static NodeTestClient provider;
  private static TestServer server;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException, InterruptedException {
    provider =
        new NodeTestClient("oidc/provider.mjs", PUBLIC + "/api/sign-in/callback", PUBLIC + "/");
    server =
        TestServer.configured(
            folder,
            """
            auth:
              tokens: [{name: admin, administer: true, sha256: %s}]
            publicUrl: %s
            isolation: {level: none}
            untrusted: {effects: allow}
            signIn:
              issuer: %s
              clientId: parley
              clientSecret: the-secret-of-parley
              name: Example
              groupsClaim: groups
              roles: {staff: [member], admins: [owner]}
              tenant: acme
              emailDomains: [example.org]
            """
                .formatted(
                    HexFormat.of().formatHex(Sha256.of(ADMIN)),
                    PUBLIC,
                    provider.next("ready").path("issuer").asString()));
  }

  @AfterAll
  static void stop() {
    server.close();
    provider.close();
  }

  private static TestBrowser browser() {
    return new TestBrowser(server.http, PUBLIC, server.url.toString());
  }

  private static URI at(String path) {
    return URI.create(PUBLIC + path);
  }

  private static void groups(String... names) throws IOException, InterruptedException {
    provider.send(Json.mapper().writeValueAsString(Map.of("groups", names)));
    assertThat(provider.next("groups").path("groups")).hasSize(names.length);
  }

  private static HttpResponse<String> signIn(TestBrowser browser, String person)
      throws IOException, InterruptedException {
    return browser.get(browser.signInAtProvider(at("/api/sign-in/start?to=/%23x"), person));
  }

  private static JsonNode me(TestBrowser browser) throws IOException, InterruptedException {
    var reply = browser.get(at("/api/me"));
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return Json.mapper().readTree(reply.body());
  }

  private static List<String> texts(JsonNode list) {
    return list.valueStream().map(JsonNode::asString).toList();
  }

  @Test
  void a_person_signs_in_and_out() throws IOException, InterruptedException {
    groups("staff");
    assertThat(server.get("/api/contexts").statusCode()).isEqualTo(401);
    assertThat(server.get("/api/sign-in").body())
        .isEqualTo("{\"items\":[{\"name\":\"Example\",\"url\":\"/api/sign-in/start\"}]}");

    var browser = browser();
    var signedIn = signIn(browser, "ann");
    assertThat(signedIn.statusCode()).as(signedIn.body()).isEqualTo(303);
    assertThat(signedIn.headers().firstValue("Location")).contains("/#x");
    var me = me(browser);
    assertThat(me.path("principal").asString()).isEqualTo("ann");
    assertThat(me.path("kind").asString()).isEqualTo("person");
    assertThat(me.path("tenant").asString()).isEqualTo("acme");
    assertThat(texts(me.path("roles"))).containsExactly("member");
    var audited =
        server.get(
            "/api/audit?action=GET%20/api/sign-in/callback&principal=ann",
            "Authorization", "Bearer " + ADMIN);
    assertThat(audited.body()).contains("\"result\":\"succeeded\"", "\"credential\":\"session:");

    var out = browser.post(at("/api/sign-out"), Map.of());
    assertThat(out.statusCode()).as(out.body()).isEqualTo(200);
    assertThat(browser.get(at("/api/me")).statusCode()).isEqualTo(401);
    var providerPage =
        browser.get(URI.create(Json.mapper().readTree(out.body()).path("url").asString()));
    assertThat(providerPage.statusCode()).as(providerPage.body()).isEqualTo(200);
    assertThat(providerPage.body()).contains("/session/end/confirm");
  }

  @Test
  void groups_are_taken_from_the_provider_at_each_sign_in()
      throws IOException, InterruptedException {
    groups("staff", "admins");
    var browser = browser();
    assertThat(signIn(browser, "bob").statusCode()).isEqualTo(303);
    assertThat(texts(me(browser).path("roles"))).containsExactlyInAnyOrder("member", "owner");
    // A new group of Parley has the members of the provider's group from their next sign-in on.
    assertThat(
            server
                .post(
                    "/api/groups?tenant=acme",
                    "{\"name\":\"staff\"}",
                    "Authorization",
                    "Bearer " + ADMIN)
                .statusCode())
        .isBetween(200, 201);

    groups("staff");
    var second = browser();
    assertThat(signIn(second, "bob").statusCode()).isEqualTo(303);
    assertThat(texts(me(second).path("groups"))).containsExactly("staff");
    assertThat(texts(me(browser).path("roles"))).containsExactly("member");

    groups("others");
    var refused = signIn(browser(), "bob");
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("(no-role)");
    assertThat(browser.get(at("/api/me")).statusCode()).isEqualTo(401);
    assertThat(second.get(at("/api/me")).statusCode()).isEqualTo(401);
  }

  @Test
  void a_stolen_code_is_worth_nothing() throws IOException, InterruptedException {
    groups("staff");
    var victim = browser();
    var stolen = victim.signInAtProvider(at("/api/sign-in/start"), "cleo");

    // Another browser has not the cookie of the victim.
    var other = browser().get(stolen);
    assertThat(other.statusCode()).isEqualTo(403);
    assertThat(other.body()).contains("(wrong-state)");

    // With a state and cookie of its own it has not the verifier of the victim.
    var attacker = browser();
    var own = attacker.signInAtProvider(at("/api/sign-in/start"), "mallory").toString();
    var fresh = victim.signInAtProvider(at("/api/sign-in/start"), "cleo").toString();
    var injected =
        attacker.get(
            URI.create(
                own.replaceFirst("code=[^&]+", fresh.replaceFirst(".*(code=[^&]+).*", "$1"))));
    assertThat(injected.statusCode()).isEqualTo(403);
    assertThat(injected.body()).contains("(code-refused)");
    assertThat(attacker.get(at("/api/me")).statusCode()).isEqualTo(401);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "\\\\evil.example",
        "/a\r\nSet-Cookie: x=y",
        "/a\tb",
        "javascript:alert(1)",
        "evil",
        ""
      })
  void a_browser_returns_only_to_this_server(String to) {
    var reply =
        server.get("/api/sign-in/start?to=" + URLEncoder.encode(to, StandardCharsets.UTF_8));
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(400);
    assertThat(reply.headers().firstValue("Location")).isEmpty();
  }
}
