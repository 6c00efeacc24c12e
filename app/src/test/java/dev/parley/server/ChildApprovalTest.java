package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.tool.process.ClientProcessCheck;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.BooleanNode;

/// Real processes that agents start try to approve the call of another conversation.
@Timeout(120)
class ChildApprovalTest {

  private static final String YAML =
      """
      agents:
        - {id: agent-code, tools: [shell, ask_user, sign_in]}
        - {id: program, type: cli, cli: jsonl, permission: allow, command: [/bin/bash, %1$s, %2$s/program]}
      """;

  private static final String MCP =
      """
      mcpServers:
        tools: {command: [/bin/bash, %1$s, %2$s/mcp]}
      """;

  private static final String FROM_CHILD = "approval-from-child";

  @TempDir Path folder;

  private final SecretLeaks secretLeaks = new SecretLeaks();
  private TestServer testServer;
  private TestUser testUser;

  @BeforeEach
  void open() throws IOException {
    open(YAML);
  }

  private void open(String yaml) throws IOException {
    assumeThat(ClientProcessCheck.supported()).isTrue();
    assumeThat(Path.of("/bin/bash")).isExecutable();
    Files.createDirectories(folder.resolve("program"));
    Files.createDirectories(folder.resolve("mcp"));
    testServer = TestServer.configured(folder, yaml.formatted(script("wait-and-post.sh"), folder));
    testUser = new TestUser(testServer, secretLeaks);
  }

  @AfterEach
  void close() throws IOException {
    if (testServer != null) {
      Files.writeString(folder.resolve("program/end"), "");
      Files.writeString(folder.resolve("mcp/end"), "");
      testServer.close();
    }
    secretLeaks.close();
  }

  private static Path script(String name) {
    try {
      return Path.of(ChildApprovalTest.class.getResource("/approval/" + name).toURI());
    } catch (URISyntaxException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /// A call that waits for approval, and the path that approves it.
  private record Victim(ContextId context, String input) {
    String path() {
      return "/api/contexts/" + context + "/inputs/" + input;
    }
  }

  private Victim victim() {
    var context = testUser.say("victim", "run touch " + folder.resolve("happened"));
    var input = testUser.await(context, "input-required").path("inputId").asString();
    return new Victim(context, input);
  }

  /// Runs a command as the shell tool does, with a person's approval, and returns what it printed.
  private String run(String context, String command) {
    var own = testUser.say(context, "run " + command);
    var input = testUser.await(own, "input-required").path("inputId").asString();
    assertThat(testUser.answer(own, input, BooleanNode.TRUE).statusCode()).isEqualTo(202);
    var done = testUser.await(own, "tool-complete");
    return done.path("result").path("output").asString(done.toString());
  }

  private String post(String path, String body) {
    return "/bin/bash %s %d '%s' '%s'"
        .formatted(script("post.sh"), testServer.url.getPort(), path, body);
  }

  /// Nothing was decided: the person can still decide, and that counts.
  private void stillOpen(Victim victim) {
    assertThat(folder.resolve("happened")).doesNotExist();
    var answer = testUser.answer(victim.context(), victim.input(), BooleanNode.FALSE);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    testUser.await(victim.context(), "task-complete");
    assertThat(folder.resolve("happened")).doesNotExist();
  }

  /// `%s` posts the approval; what it prints goes to the file `out`, and `wait` lets the command stay until then.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "%s > out; cat out",
        "setsid %s > out; cat out",
        "env -i setsid %s > out; cat out",
        "(setsid %s > out; touch done) & wait; cat out",
        "(setsid %s > part && mv part out &); while [ ! -e out ]; do sleep 0.05; done; cat out",
        "(env -i %s > part && mv part out &); while [ ! -e out ]; do sleep 0.05; done; cat out",
      })
  void a_command_of_the_shell_tool_cannot_approve(String how) {
    var victim = victim();

    var reply = run("attacker", how.formatted(post(victim.path(), "{\"value\":true}")));

    assertThat(reply).contains("403 Forbidden", FROM_CHILD);
    stillOpen(victim);
  }

  @Test
  void a_command_that_hangs_up_at_once_cannot_approve() {
    var victim = victim();

    run("attacker", post(victim.path(), "{\"value\":true}") + " leave; echo gone");

    stillOpen(victim);
  }

  @Test
  void no_other_way_to_answer_is_open_to_a_command() {
    var victim = victim();
    var asks = testUser.say("asks", "ask me which colour");
    var question = testUser.await(asks, "input-required").path("inputId").asString();
    var signIn = testUser.say("signs", "sign in to api.example.org");
    var auth = testUser.await(signIn, "auth-required").path("authId").asString();

    assertThat(run("a1", post("/api/contexts/asks/inputs/" + question, "{\"value\":\"red\"}")))
        .contains("403 Forbidden", FROM_CHILD);
    var resume = "{\"inputs\":[{\"inputId\":\"" + victim.input() + "\",\"value\":true}]}";
    assertThat(run("a2", post("/api/contexts/victim/resume", resume)))
        .contains("403 Forbidden", FROM_CHILD);
    assertThat(run("a3", post("/api/contexts/signs/auths/" + auth, "{\"credential\":\"k\"}")))
        .contains("403 Forbidden", FROM_CHILD);
    var launch =
        """
        {"type":"program","prompt":"go","configuration":{"customArgs":["--all"]}}\
        """
            .strip();
    assertThat(run("a4", post("/api/agents", launch))).contains("403 Forbidden", FROM_CHILD);
    var steering = "{\"content\":\"say red\",\"whenBusy\":\"steer\"}";
    assertThat(run("a5", post("/api/contexts/asks/messages", steering)))
        .contains("403 Forbidden", FROM_CHILD);

    assertThat(testUser.json("/api/inbox").path("items")).hasSize(3);
    stillOpen(victim);
  }

  @Test
  void a_command_cannot_resume_a_run_of_ag_ui_nor_answer_over_a2a() {
    var run =
        """
        {"threadId":"thread","runId":"%s","state":{},"tools":[],"context":[],"forwardedProps":{},
         "messages":[{"id":"m1","role":"user","content":"run touch %s"}]%s}\
        """
            .replaceAll("\\s*\\n\\s*", "");
    var made = folder.resolve("happened");
    var began = testServer.post("/ag-ui/agent-code", run.formatted("r1", made, ""));
    var interrupt =
        testUser.await(new ContextId("thread"), "input-required").path("inputId").asString();
    assertThat(began.body()).contains(interrupt);
    var resume =
        ",\"resume\":[{\"interruptId\":\"%s\",\"status\":\"resolved\",\"payload\":{\"approved\":true}}]"
            .formatted(interrupt);

    assertThat(run("a1", post("/ag-ui/agent-code", run.formatted("r2", made, resume))))
        .contains(FROM_CHILD);

    var peer = new A2aTestClient(testServer, "agent-code", "1.0");
    var task = peer.send(peer.say("q1", "ask me which colour")).path("id").asString();
    var answer = A2aTestClient.in(peer.say("q2", "red"), "taskId", task);
    assertThat(run("a2", post(peer.path, A2aTestClient.request("SendMessage", answer))))
        .contains(FROM_CHILD);
    assertThat(testUser.json("/api/inbox").path("items")).hasSize(2);
    assertThat(made).doesNotExist();
  }

  @Test
  void a_command_line_agent_cannot_approve() throws Exception {
    var victim = victim();
    var body = Json.object().put("content", "go").put("agentId", "program");
    testUser.post("/api/contexts", Json.object().put("contextId", "cli"));
    testUser.post("/api/contexts/cli/messages", body);

    assertThat(reply(victim, folder.resolve("program"))).contains("403 Forbidden", FROM_CHILD);
    stillOpen(victim);
  }

  @Test
  void an_mcp_server_cannot_approve() throws Exception {
    testServer.close();
    open(YAML + MCP);
    var victim = victim();

    assertThat(reply(victim, folder.resolve("mcp"))).contains("403 Forbidden", FROM_CHILD);
    stillOpen(victim);
  }

  /// What the process in that folder is told when it approves.
  private String reply(Victim victim, Path home) throws IOException, InterruptedException {
    var part = home.resolve("go.part");
    Files.writeString(
        part,
        "PORT=%d PATHNAME='%s' BODY='{\"value\":true}'"
            .formatted(testServer.url.getPort(), victim.path()));
    Files.move(part, home.resolve("go"));
    var reply = home.resolve("reply");
    try (var watch = home.getFileSystem().newWatchService()) {
      home.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
      for (var waited = 0; !Files.exists(reply); waited++) {
        assertThat(waited).as("it answers").isLessThan(600);
        var key = watch.poll(Duration.ofMillis(100).toMillis(), TimeUnit.MILLISECONDS);
        if (key != null) {
          key.pollEvents();
          key.reset();
        }
      }
    }
    return Files.readString(reply);
  }

  @Test
  void a_process_that_no_agent_started_can_approve() throws Exception {
    var victim = victim();
    var command = new ProcessBuilder("/bin/bash", "-c", post(victim.path(), "{\"value\":true}"));
    command.redirectErrorStream(true).redirectOutput(folder.resolve("out").toFile());
    assertThat(command.start().waitFor()).isZero();

    assertThat(folder.resolve("out")).content().contains("202 Accepted");
    testUser.await(victim.context(), "task-complete");

    assertThat(folder.resolve("happened")).exists();
  }
}
