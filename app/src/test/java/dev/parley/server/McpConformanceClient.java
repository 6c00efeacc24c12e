package dev.parley.server;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// A whole Parley as the client under test of the public conformance kit for MCP: the kit starts it with the address of its server. Its
/// person signs in wherever a link leads, and accepts every form.
final class McpConformanceClient {

  private static final Map<String, String> CALLS =
      Map.of(
          "initialize", "",
          "tools_call", "add_numbers {\"a\":5,\"b\":3}",
          "elicitation-sep1034-client-defaults", "test_client_elicitation_defaults {}",
          "sse-retry", "test_reconnection {}");

  private final TestServer testServer;
  private final TestUser testUser;
  private final HttpClient browser = HttpClient.newHttpClient();
  private final Set<String> answered = new HashSet<>();

  private McpConformanceClient(TestServer testServer) {
    this.testServer = testServer;
    this.testUser = new TestUser(testServer, new SecretLeaks());
  }

  /// Runs one scenario; the last of the words is the address of the server of the kit.
  public static void main(String[] words) throws Exception {
    var scenario = System.getenv().getOrDefault("MCP_CONFORMANCE_SCENARIO", "");
    var folder = Files.createTempDirectory("parley-mcp-conformance");
    try (var testServer =
        TestServer.configured(folder, config(scenario, words[words.length - 1]))) {
      new McpConformanceClient(testServer).run(scenario);
    } finally {
      delete(folder);
    }
    System.exit(0);
  }

  private static String config(String scenario, String url) {
    var given =
        Json.mapper().readTree(System.getenv().getOrDefault("MCP_CONFORMANCE_CONTEXT", "{}"));
    var oauth = Json.object();
    if (scenario.equals("auth/basic-cimd")) {
      // The address of a document about the client serves as its id.
      oauth.put("clientId", "https://conformance-test.local/client-metadata.json");
    } else if (given.path("client_id").isString()) {
      oauth.put("clientId", given.path("client_id").asString());
      if (given.path("client_secret").isString()) {
        oauth.put("clientSecret", given.path("client_secret").asString());
      }
    }
    return """
    agents: [{id: agent-code, tools: ['mcp:kit'], permission: allow}]
    privateHosts: [localhost, 127.0.0.1]
    mcpServers: {kit: {url: '%s'%s}}
    """
        .formatted(url, oauth.isEmpty() ? "" : ", oauth: " + oauth);
  }

  private void run(String scenario) throws IOException, InterruptedException {
    var call = CALLS.getOrDefault(scenario, "test-tool {}");
    if (scenario.startsWith("auth/")) {
      // Before somebody has signed in, this is its only tool.
      task("connect", "use kit_connect {}");
    }
    if (!call.isEmpty()) {
      task("call", "use kit_" + call);
    } else {
      task("nothing", "say hello");
    }
  }

  /// Has a task, and does what a person does who wants it to succeed.
  private void task(String name, String words) throws IOException, InterruptedException {
    var context = testUser.say(name, words);
    while (true) {
      var event = testUser.await(context, this::matters);
      answered.add(event.path("eventId").asString());
      switch (event.path("kind").asString()) {
        case "auth-required" -> signIn(event);
        case "input-required" ->
            testUser.answer(context, event.path("inputId").asString(), Json.object());
        default -> {
          return;
        }
      }
      if (event.path("kind").asString().equals("auth-required")
          && !signedIn(context, event.path("authId").asString())) {
        return;
      }
    }
  }

  private boolean matters(JsonNode event) {
    var kind = event.path("kind").asString();
    var ended =
        kind.equals("task-complete")
            || (kind.equals("task-status") && event.path("status").asString().equals("failed"));
    return ended
        || (Set.of("auth-required", "input-required").contains(kind)
            && !answered.contains(event.path("eventId").asString()));
  }

  private boolean signedIn(ContextId context, String auth) {
    return testServer.log.inspect(
        context,
        state ->
            state.openAuths().stream()
                .noneMatch(open -> open.required().authId().value().equals(auth)));
  }

  /// Opens the link as a browser does, and goes back to where it leads.
  private void signIn(JsonNode event) throws IOException, InterruptedException {
    var link = URI.create(event.path("authUrl").asString());
    var page = browser.send(HttpRequest.newBuilder(link).build(), BodyHandlers.ofString());
    var back = page.headers().firstValue("Location");
    if (back.isPresent()) {
      var request = HttpRequest.newBuilder(URI.create(back.get())).build();
      browser.send(request, BodyHandlers.ofString());
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
