package dev.parley.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.mcp.McpDependencies.McpTokenProvider;
import dev.parley.mcp.OAuthDiscovery.OAuthServer;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.tool.FakeToolContext;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolResult;
import dev.parley.tool.ToolResult.ToolSignIn;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.BooleanNode;

/// Tests servers that require a sign-in.
class McpSignInTest {

  private static final ToolAnswer DONE = new ToolAnswer.Given(BooleanNode.TRUE);

  /// The tokens of each owner.
  private static final class FakeTokenProvider implements McpTokenProvider {
    final Map<String, String> tokens = new ConcurrentHashMap<>();
    final List<String> rejected = new CopyOnWriteArrayList<>();

    @Override
    public Optional<String> bearer(String owner, String provider) {
      assertThat(provider).isEqualTo("safe");
      return Optional.ofNullable(tokens.get(owner));
    }

    @Override
    public void reject(String owner, String provider) {
      rejected.add(owner + "/" + provider);
      tokens.remove(owner);
    }
  }

  private final FakeTokenProvider fakeTokenProvider = new FakeTokenProvider();
  private ProtectedServer safe;
  private McpServers servers;

  @BeforeEach
  void start() throws Exception {
    safe = new ProtectedServer();
    servers = McpTestServers.start(fakeTokenProvider, safe.server(Map.of()));
  }

  @AfterEach
  void close() {
    servers.close();
    safe.close();
  }

  private Tool only(String owner) throws Exception {
    var tools = McpTestServers.tools(servers, "mcp:safe", owner);
    assertThat(tools).hasSize(1);
    return tools.getFirst();
  }

  private static ToolSignIn signIn(ToolResult result) {
    if (result instanceof ToolResult.NeedsSignIn(var toolSignIn)) {
      return toolSignIn;
    }
    throw new AssertionError("no sign-in is needed: " + result);
  }

  @Test
  void who_has_no_token_is_asked_to_sign_in_where_the_server_says() throws Exception {
    var connect = only("ann");
    assertThat(connect.name()).isEqualTo("safe_connect");

    var toolSignIn = signIn(new McpTestContext("ann").call(connect, "{}"));

    assertThat(toolSignIn.type()).isEqualTo(AuthType.OAUTH2);
    assertThat(toolSignIn.provider()).isEqualTo("safe");
    assertThat(toolSignIn.scopes()).containsExactly("read");
    assertThat(OAuthServer.of(toolSignIn.metadata()))
        .isEqualTo(
            new OAuthServer(
                safe.url("/login"),
                safe.url("/login/authorize"),
                safe.url("/login/token"),
                safe.url("/login/register"),
                List.of("read"),
                safe.url("/mcp")));
  }

  @Test
  void without_a_hint_the_usual_places_are_searched() throws Exception {
    safe.silentRefusals();

    var toolSignIn = signIn(new McpTestContext("ann").call(only("ann"), "{}"));

    assertThat(toolSignIn.scopes()).containsExactly("read", "write");
    assertThat(servers.authorization("safe").orElseThrow().tokenEndpoint())
        .isEqualTo(safe.url("/login/token"));
  }

  @Test
  void after_the_sign_in_the_tools_are_there() throws Exception {
    var connect = only("ann");
    signIn(new McpTestContext("ann").call(connect, "{}"));
    safe.good.add("token-a");
    fakeTokenProvider.tokens.put("ann", "token-a");

    assertThat(
            FakeToolContext.done(new McpTestContext("ann").after(DONE).call(connect, "{}"))
                .toString())
        .isEqualTo("{\"tools\":[\"whoami\"]}");
    assertThat(only("ann").name()).isEqualTo("safe_whoami");
    assertThat(FakeToolContext.done(new McpTestContext("ann").call(only("ann"), "{}")).toString())
        .contains("token-a in of-token-a");
  }

  @Test
  void each_owner_has_a_connection_of_their_own() throws Exception {
    safe.good.addAll(List.of("token-a", "token-b"));
    fakeTokenProvider.tokens.putAll(Map.of("ann", "token-a", "bob", "token-b"));

    var ann = FakeToolContext.done(new McpTestContext("ann").call(only("ann"), "{}"));
    var bob = FakeToolContext.done(new McpTestContext("bob").call(only("bob"), "{}"));

    assertThat(ann.toString()).contains("token-a in of-token-a");
    assertThat(bob.toString()).contains("token-b in of-token-b");
    assertThat(only("eve").name()).isEqualTo("safe_connect");
  }

  @Test
  void a_token_that_is_refused_is_not_used_again_and_a_new_one_is() throws Exception {
    safe.good.add("token-a");
    fakeTokenProvider.tokens.put("ann", "token-a");
    var whoami = only("ann");
    safe.good.remove("token-a");

    signIn(new McpTestContext("ann").call(whoami, "{}"));

    assertThat(fakeTokenProvider.rejected).containsExactly("ann/safe");
    safe.good.add("token-c");
    fakeTokenProvider.tokens.put("ann", "token-c");
    assertThat(
            FakeToolContext.done(new McpTestContext("ann").after(DONE).call(whoami, "{}"))
                .toString())
        .contains("token-c");
  }

  @Test
  void one_whose_list_is_open_asks_at_the_first_call() throws Exception {
    safe.openList();
    try (var open = McpTestServers.start(fakeTokenProvider, safe.server(Map.of()))) {
      var whoami = McpTestServers.tools(open, "mcp:safe", "ann").getFirst();
      assertThat(whoami.name()).isEqualTo("safe_whoami");

      signIn(new McpTestContext("ann").call(whoami, "{}"));

      safe.good.add("token-a");
      fakeTokenProvider.tokens.put("ann", "token-a");
      assertThat(
              FakeToolContext.done(new McpTestContext("ann").after(DONE).call(whoami, "{}"))
                  .toString())
          .contains("token-a");
    }
  }

  @Test
  void nobody_is_asked_twice() throws Exception {
    var connect = only("ann");

    assertThat(FakeToolContext.failed(new McpTestContext("ann").after(DONE).call(connect, "{}")))
        .contains("still requires a sign-in");
    var lapsed = new ToolAnswer.Lapsed("no time");
    assertThat(FakeToolContext.failed(new McpTestContext("ann").after(lapsed).call(connect, "{}")))
        .contains("the sign-in to the MCP server")
        .contains("no time");
  }

  @Test
  void one_that_speaks_for_others_or_knows_no_pkce_is_not_trusted() throws Exception {
    var connect = only("ann");
    safe.says("issuer", "https://elsewhere.example");
    assertThat(FakeToolContext.failed(new McpTestContext("ann").call(connect, "{}")))
        .contains("names another");

    safe.says("issuer", safe.url("/login"));
    safe.says("token_endpoint", "http://203.0.113.1/token");
    assertThat(FakeToolContext.failed(new McpTestContext("ann").call(connect, "{}")))
        .contains("token_endpoint");

    safe.says("token_endpoint", safe.url("/login/token"));
    safe.withoutPkce();
    assertThat(FakeToolContext.failed(new McpTestContext("ann").call(connect, "{}")))
        .contains("PKCE");
  }

  @Test
  void a_server_cannot_make_parley_call_private_addresses() throws Exception {
    var requests = new CopyOnWriteArrayList<String>();
    var internal = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    internal.createContext(
        "/",
        exchange -> {
          requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
          exchange.sendResponseHeaders(404, -1);
          exchange.close();
        });
    internal.start();
    try {
      var there = "http://127.0.0.1:" + internal.getAddress().getPort();
      var connect = only("ann");

      safe.refersTo(there + "/internal");
      signIn(new McpTestContext("ann").call(connect, "{}"));
      safe.says("token_endpoint", there + "/token");
      assertThat(FakeToolContext.failed(new McpTestContext("ann").call(connect, "{}")))
          .contains("token_endpoint")
          .contains("privateHosts");
      safe.says("token_endpoint", safe.url("/login/token"));
      safe.says("registration_endpoint", there + "/register");
      assertThat(FakeToolContext.failed(new McpTestContext("ann").call(connect, "{}")))
          .contains("registration_endpoint");

      assertThat(requests).isEmpty();
    } finally {
      internal.stop(0);
    }
  }

  @Test
  void configured_credentials_are_sent_and_nobody_signs_in() throws Exception {
    safe.good.add("configured");
    var good = safe.server(Map.of("Authorization", "Bearer configured"));
    var bad = safe.server(Map.of("authorization", "Bearer wrong"));
    try (var right = McpTestServers.start(fakeTokenProvider, good);
        var wrong = McpTestServers.start(fakeTokenProvider, bad)) {
      var whoami = McpTestServers.tool(right, "safe", "whoami");
      assertThat(FakeToolContext.done(new McpTestContext("ann").call(whoami, "{}")).toString())
          .contains("configured");
      var connect = McpTestServers.tool(wrong, "safe", "connect");
      assertThat(FakeToolContext.failed(new McpTestContext("ann").call(connect, "{}")))
          .contains("rejects the configured credentials");
    }
  }
}
