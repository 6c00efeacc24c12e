package dev.parley.server;

import static dev.parley.server.EmbeddedTestServer.ECHO;
import static dev.parley.server.EmbeddedTestServer.all;
import static dev.parley.server.EmbeddedTestServer.config;
import static dev.parley.server.EmbeddedTestServer.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.NewMessage;
import dev.parley.embed.CustomAgent;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import dev.parley.tool.TypedTool;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Agents and tools that a program brings along are known like all others.
@Timeout(60)
class EmbeddingTest {

  @TempDir Path folder;

  @Test
  void a_custom_agent_is_shown_and_the_supervisor_chooses_it() throws InterruptedException {
    try (var talk =
        new EmbeddedTestServer(config(folder, AgentConfig.of("clerk", "Counts")), with(ECHO))) {
      assertThat(talk.client.agentTypes())
          .extracting(AgentTypeView::id)
          .extracting(AgentTypeId::value)
          .containsExactly("supervisor", "clerk", "agent-own");

      var byWords = talk.say(NewMessage.text("tell me of volcanoes"));
      talk.untilEnd(byWords);
      var byName = talk.say(NewMessage.text("delegate this to own"));
      var entries = talk.untilEnd(byName);

      assertThat(entries)
          .filteredOn(entry -> entry.event() instanceof TaskCreated)
          .extracting(entry -> entry.origin().agentId().value())
          .containsExactly("supervisor", "agent-own", "supervisor", "agent-own");
      assertThat(((TaskComplete) entries.getLast().event()).content()).isEqualTo("this");
    }
  }

  @Test
  void the_default_team_has_the_custom_agent_beside_it() {
    var standard =
        Config.load(
                null, new Config.ProcessEnvironment(Map.of(), folder, folder), TestServer.MODULES)
            .listeningOn("127.0.0.1", 0);
    try (var talk = new EmbeddedTestServer(standard, with(ECHO))) {
      assertThat(talk.client.agentTypes())
          .extracting(info -> info.id().value())
          .containsExactly(
              "supervisor",
              "agent-code",
              "agent-research",
              "agent-data",
              "agent-writer",
              "agent-own");
    }
  }

  @Test
  void a_configured_agent_hands_work_to_a_custom_one() throws InterruptedException {
    var clerk = AgentConfig.of("clerk", "Counts", "agent:agent-own");
    try (var talk = new EmbeddedTestServer(config(folder, clerk), with(ECHO))) {
      var task = talk.say(NewMessage.text("delegate hello to own").to(new AgentTypeId("clerk")));
      var entries = talk.untilEnd(task);

      assertThat(all(entries, task, ToolStart.class))
          .extracting(ToolStart::toolName)
          .containsExactly("agent_agent-own");
      assertThat(((TaskComplete) entries.getLast().event()).content()).isEqualTo("hello");
    }
  }

  @Test
  void a_custom_tool_is_named_in_a_file_and_called() throws Exception {
    var file = folder.resolve("parley.yaml");
    Files.writeString(file, "agents: [{id: clerk, tools: [shout, 'agent:agent-own']}]");
    var extensions = with(ECHO).with(new Shout());
    var processEnvironment = new Config.ProcessEnvironment(Map.of(), folder, folder);
    var config = Config.load(file, processEnvironment, extensions).listeningOn("127.0.0.1", 0);
    try (var talk = new EmbeddedTestServer(config, extensions)) {
      var task =
          talk.say(NewMessage.text("use shout {\"text\": \"hello\"}").to(new AgentTypeId("clerk")));

      assertThat(talk.answer(task)).isEqualTo("shout answered: {\"loud\":\"HELLO\"}");
    }
    assertThatThrownBy(() -> Config.load(file, processEnvironment, TestServer.MODULES))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("there is no tool shout");
  }

  @Test
  void names_that_stand_for_two_things_are_refused() {
    assertThatThrownBy(() -> Server.start(config(folder), TestServer.MODULES))
        .hasMessageContaining("at least one is needed");
    assertThatThrownBy(() -> Server.start(config(folder), with(ECHO).with(ECHO_AGAIN)))
        .hasMessageContaining("two agents have the id agent-own");
    assertThatThrownBy(
            () -> Server.start(config(folder), with(ECHO).with(new Shout()).with(new Shout())))
        .hasMessageContaining("two tools have the name shout");
    assertThatThrownBy(
            () -> Server.start(config(folder, AgentConfig.of("clerk", "", "whisper")), with(ECHO)))
        .hasMessageContaining("there is no tool whisper");
  }

  @Test
  void a_server_without_modules_has_the_core_apis_only() throws Exception {
    var agent = CustomAgent.of("agent-own", "Echoes", ECHO);
    try (var server = Server.start(withoutModel(), Extensions.NONE.with(agent));
        var http = HttpClient.newHttpClient()) {
      assertThat(status(http, server, "/api/contexts")).isEqualTo(200);
      assertThat(status(http, server, "/.well-known/agent-card.json")).isEqualTo(200);
      for (var path : List.of("/chat/conversations", "/api/agents", "/api/sessions")) {
        assertThat(status(http, server, path)).as(path).isEqualTo(404);
      }
    }
  }

  @Test
  void an_agent_that_needs_a_model_is_refused_if_there_is_none() {
    var config = withoutModel().with(List.of(AgentConfig.of("clerk", "Calculates")));

    assertThatThrownBy(() -> Server.start(config, Extensions.NONE))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("agents.clerk.model: no model is configured");
    Server.start(config, Extensions.NONE.with(TestServer.MODULES.models().getFirst())).close();
  }

  private Config withoutModel() {
    return Config.load(null, new Config.ProcessEnvironment(Map.of(), folder, folder))
        .with(List.of())
        .keepingDataIn(folder.resolve("data"))
        .listeningOn("127.0.0.1", 0);
  }

  private static int status(HttpClient http, Server server, String path) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(server.url() + path)).GET().build();
    return http.send(request, BodyHandlers.discarding()).statusCode();
  }

  private static final CustomAgent ECHO_AGAIN = CustomAgent.of("agent-own", "The same", ECHO);

  private static final class Shout implements TypedTool<Shout.Arguments> {
    record Arguments(String text) {}

    @Override
    public String name() {
      return "shout";
    }

    @Override
    public String description() {
      return "Says it loudly.";
    }

    @Override
    public Class<Arguments> arguments() {
      return Arguments.class;
    }

    @Override
    public Effect effect() {
      return Effect.PURE;
    }

    @Override
    public boolean concurrent() {
      return true;
    }

    @Override
    public ToolResult call(Arguments arguments, ToolContext context) {
      return new ToolResult.Done(
          Json.object().put("loud", arguments.text().toUpperCase(java.util.Locale.ROOT)));
    }
  }
}
