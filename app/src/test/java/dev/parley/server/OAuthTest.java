package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.ProtectedServer;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContextId;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// People sign in with OAuth to MCP servers that want it.
@Timeout(120)
class OAuthTest {

  @TempDir Path folder;

  private final SecretLeaks secretLeaks = new SecretLeaks();
  private ProtectedServer mcp;
  private TestAuthorizationServer login;
  private FakeModelServer model;

  @BeforeEach
  void start() throws Exception {
    mcp = new ProtectedServer();
    login = new TestAuthorizationServer(mcp.good::add);
    mcp.says("authorization_endpoint", login.url("/authorize"));
    mcp.says("token_endpoint", login.url("/token"));
    mcp.says("registration_endpoint", login.url("/register"));
    model =
        FakeModelServer.answering(
            receivedRequest ->
                receivedRequest.afterCall()
                    ? FakeModelAnswer.saying("done")
                    : FakeModelAnswer.calling("c1", receivedRequest.lastText(), "{}"));
  }

  @AfterEach
  void close() {
    model.close();
    login.close();
    mcp.close();
    secretLeaks.close();
  }

  private TestServer site() {
    return site("");
  }

  private TestServer site(String oauth) {
    return TestServer.durable(
        folder,
        TestServer.Wish.USUAL,
        """
        models: {m: {provider: openai, model: m, baseUrl: '%s', apiKey: none}}
        agents: [{id: agent-code, tools: ["mcp:safe"]}]
        mcpServers: {safe: {url: '%s', permission: allow%s}}
        privateHosts: ['%s']
        """
            .formatted(
                model.url(), mcp.url("/mcp"), oauth, URI.create(login.url("/")).getAuthority()));
  }

  /// Opens a link as a browser does, and follows it no further.
  private HttpResponse<String> open(TestServer testServer, String url) {
    return testServer.send(
        HttpRequest.newBuilder(URI.create(url))
            .header("Sec-Fetch-Site", "cross-site")
            .header("Sec-Fetch-Mode", "navigate"));
  }

  private String back(TestServer testServer, JsonNode asked) {
    var answer = open(testServer, asked.path("authUrl").asString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(302);
    return answer.headers().firstValue("Location").orElseThrow();
  }

  @Test
  void the_whole_flow_from_a_refused_call_to_a_call_that_works() throws Exception {
    try (var testServer = site()) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "safe_connect");
      var asked = testUser.await(context, "auth-required");

      assertThat(asked.path("authType").asString()).isEqualTo("oauth2");
      assertThat(asked.path("provider").asString()).isEqualTo("safe");
      assertThat(asked.at("/metadata/authorizationEndpoint").asString())
          .isEqualTo(login.url("/authorize"));
      assertThat(asked.at("/metadata/codeChallengeMethod").asString()).isEqualTo("S256");
      assertThat(asked.at("/metadata/clientId").asString()).isEqualTo("client1");
      var link = TestAuthorizationServer.parameters(URI.create(asked.path("authUrl").asString()));
      assertThat(link)
          .containsEntry("code_challenge", asked.at("/metadata/codeChallenge").asString())
          .containsEntry("resource", mcp.url("/mcp"))
          .containsEntry("scope", "read")
          .containsEntry("redirect_uri", testServer.url + "/oauth/callback");

      var page = open(testServer, back(testServer, asked));
      secretLeaks.hear(page.body());

      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body()).contains("You can close this window");
      assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
          .startsWith("default-src 'none'");
      var completed = testUser.await(context, "auth-completed");
      assertThat(completed.at("/metadata/expiresAt").asString()).isNotEmpty();
      var done = testUser.await(context, "tool-complete");
      assertThat(done.path("success").asBoolean()).as(done.toString()).isTrue();
      assertThat(done.at("/result/tools/0").asString()).isEqualTo("whoami");
      assertThat(login.story)
          .containsExactly(
              "registered Parley",
              "authorized read for " + mcp.url("/mcp"),
              "granted authorization_code");
      testUser.get("/api/contexts/c/events?internal=true&limit=1000");
      testUser.get("/api/contexts/c/snapshot");
    }
    // The tool of this test says which token it got, so only the sign-in itself is looked at.
    secretLeaks.check(folder, TestAuthorizationServer.SECRET);
  }

  @Test
  void a_client_that_was_registered_by_hand_signs_in_where_nobody_can_register() throws Exception {
    mcp.withoutRegistration();
    var secret = TestAuthorizationServer.SECRET + "client:secret";
    try (var testServer = site(", oauth: {clientId: 'by hand', clientSecret: '" + secret + "'}")) {
      login.know("by hand", secret, testServer.url + "/oauth/callback");
      login.expiresIn(1);
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "safe_connect");
      var asked = testUser.await(context, "auth-required");
      assertThat(asked.at("/metadata/clientId").asString()).isEqualTo("by hand");

      assertThat(open(testServer, back(testServer, asked)).statusCode()).isEqualTo(200);

      var done = testUser.await(context, "tool-complete");
      assertThat(done.path("success").asBoolean()).as(done.toString()).isTrue();
      assertThat(login.story)
          .contains("granted authorization_code", "granted refresh_token")
          .noneMatch(line -> line.startsWith("registered") || line.startsWith("refused"));
      testUser.get("/api/contexts/c/events?internal=true&limit=1000");
    }
    secretLeaks.check(folder, TestAuthorizationServer.SECRET);
  }

  @Test
  void without_a_client_id_it_is_said_where_to_put_one() throws Exception {
    mcp.withoutRegistration();
    try (var testServer = site()) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "safe_connect");

      var failed = testUser.await(context, "tool-complete");

      assertThat(failed.path("success").asBoolean()).isFalse();
      assertThat(failed.path("error").asString()).contains("mcpServers.NAME.oauth.clientId");
    }
  }

  @Test
  void a_wrong_state_a_used_code_and_a_no_leave_it_as_it_is() throws Exception {
    try (var testServer = site()) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "safe_connect");
      var asked = testUser.await(context, "auth-required");
      var good = back(testServer, asked);
      var state = TestAuthorizationServer.parameters(URI.create(good)).get("state");

      for (var bad :
          new String[] {
            "/oauth/callback",
            "/oauth/callback?code=x",
            "/oauth/callback?code=x&state=",
            "/oauth/callback?code=x&state=" + state + "x",
            "/oauth/callback?code=<script>alert(1)</script>&state=x"
                .replace("<", "%3C")
                .replace(">", "%3E"),
            "/oauth/callback?error=access_denied&state=" + state,
            "/oauth/callback?code=x&iss=https%3A%2F%2Fevil.example&state=" + state,
            "/oauth/callback?code=wrong&state=" + state
          }) {
        var page = open(testServer, testServer.url + bad);
        assertThat(page.statusCode()).as(bad).isEqualTo(400);
        assertThat(page.body()).contains("not signed in").doesNotContain("script");
      }
      assertThat(testUser.json("/api/inbox").path("items")).hasSize(1);

      assertThat(open(testServer, good).statusCode()).isEqualTo(200);
      assertThat(open(testServer, good).statusCode()).isEqualTo(400);
      assertThat(open(testServer, back(testServer, asked)).statusCode()).isEqualTo(400);
      testUser.await(context, "task-complete");
      assertThat(login.story).filteredOn("granted authorization_code"::equals).hasSize(1);
    }
    secretLeaks.check(folder, TestAuthorizationServer.SECRET);
  }

  @Test
  void a_flow_goes_on_after_a_restart_and_the_token_is_still_there_after_another()
      throws Exception {
    JsonNode asked;
    ContextId context;
    String good;
    try (var testServer = site()) {
      var testUser = new TestUser(testServer, secretLeaks);
      context = testUser.say("c", "safe_connect");
      asked = testUser.await(context, "auth-required");
      testUser.await(context, event -> event.path("status").asString("").equals("waiting-auth"));
      good = back(testServer, asked);
    }
    var query = good.substring(good.indexOf('?'));
    try (var testServer = site()) {
      var testUser = new TestUser(testServer, secretLeaks);
      assertThat(open(testServer, testServer.url + "/oauth/callback" + query).statusCode())
          .isEqualTo(200);
      testUser.await(context, "task-complete");
    }
    try (var testServer = site()) {
      var testUser = new TestUser(testServer, secretLeaks);
      var later = testUser.say("d", "safe_whoami");
      var done = testUser.await(later, "tool-complete");
      assertThat(done.path("success").asBoolean()).as(done.toString()).isTrue();
    }
  }

  @Test
  void a_token_that_has_expired_is_renewed_and_one_that_cannot_be_is_asked_for_again()
      throws Exception {
    login.expiresIn(1);
    try (var testServer = site()) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "safe_connect");
      assertThat(
              open(testServer, back(testServer, testUser.await(context, "auth-required")))
                  .statusCode())
          .isEqualTo(200);
      testUser.await(context, "task-complete");

      login.expiresIn(3600);
      var later = testUser.say("d", "safe_whoami");
      var done = testUser.await(later, "tool-complete");

      assertThat(done.path("success").asBoolean()).as(done.toString()).isTrue();
      assertThat(login.story)
          .contains("granted refresh_token")
          .doesNotContain("refused refresh_token");

      login.forget();
      mcp.good.clear();
      var last = testUser.say("e", "safe_whoami");
      testUser.await(last, "auth-required");
    }
  }
}
