package dev.parley.server;

import static dev.parley.server.EmbeddedTestServer.config;
import static dev.parley.server.EmbeddedTestServer.terminal;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.StreamFilter;
import dev.parley.embed.CustomAgent;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.tool.PlatformThreads;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tools and agents of a program that compute without end, on every processor at once.
@Timeout(120)
class SpinningToolsTest {

  private static final int MORE_THAN_CORES = Runtime.getRuntime().availableProcessors() + 2;

  private record Call(ContextId context, TaskId task) {}

  @TempDir Path folder;

  private final SpinningTool spinningTool = new SpinningTool();
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterEach
  void release() {
    spinningTool.released = true;
    http.close();
  }

  @Test
  void the_server_answers_and_streams_while_tools_spin_on_every_core() throws Exception {
    try (var talk = talk()) {
      spin(talk, "clerk", MORE_THAN_CORES);

      assertThat(get(talk, "/healthz").statusCode()).isEqualTo(200);
      var task = talk.say(NewMessage.text("say hello").to(new AgentTypeId("clerk")));
      assertThat(talk.untilEnd(task).getLast().event()).isInstanceOf(TaskComplete.class);
      spinningTool.released = true;
    }
  }

  @Test
  void a_call_that_ignores_its_interrupt_is_left_behind_and_then_its_tool_is_refused()
      throws Exception {
    try (var talk = talk()) {
      var calls = spin(talk, "clerk", PlatformThreads.STUCK_MAX);
      for (var call : calls) {
        talk.client.cancel(call.context(), call.task());
      }
      for (var call : calls) {
        assertThat(end(talk, call, ToolComplete.class))
            .satisfies(
                end -> {
                  assertThat(end.success()).isFalse();
                  assertThat(end.error()).contains("spin did not stop");
                  assertThat(end.outcome()).isEqualTo(Outcome.INTERRUPTED);
                });
        assertThat(end(talk, call, TaskStatus.class).status()).isEqualTo(TaskState.CANCELED);
      }
      awaitStuck(talk, PlatformThreads.STUCK_MAX);

      assertThat(talk.answer(talk.say(use("clerk")))).contains("the tool spin is rejected");
      assertThat(spinningTool.started.availablePermits()).isZero();

      spinningTool.released = true;
      awaitStuck(talk, 0);
      assertThat(talk.answer(talk.say(use("clerk")))).contains("\"thread\":\"tool-spin-");
    }
  }

  @Test
  void the_server_answers_while_agents_of_the_program_spin_on_every_core() throws Exception {
    try (var talk = talk()) {
      spin(talk, "spinner", MORE_THAN_CORES);

      assertThat(get(talk, "/healthz").statusCode()).isEqualTo(200);
      var task = talk.say(NewMessage.text("say hello").to(new AgentTypeId("clerk")));
      assertThat(talk.untilEnd(task).getLast().event()).isInstanceOf(TaskComplete.class);
      spinningTool.released = true;
    }
  }

  @Test
  void an_agent_that_ignores_its_interrupt_is_left_behind() throws Exception {
    try (var talk = talk()) {
      var call = spin(talk, "spinner", 1).getFirst();
      talk.client.cancel(call.context(), call.task());

      assertThat(end(talk, call, TaskStatus.class).status()).isEqualTo(TaskState.CANCELED);
      awaitStuck(talk, 1);
      spinningTool.released = true;
      awaitStuck(talk, 0);
    }
  }

  private EmbeddedTestServer talk() {
    var extensions =
        TestServer.MODULES
            .with(spinningTool)
            .with(
                CustomAgent.of(
                    "spinner",
                    "Spins",
                    _ -> {
                      spinningTool.started.release();
                      spinningTool.spin();
                    }));
    return new EmbeddedTestServer(
        config(folder, AgentConfig.of("clerk", "Helps", "spin")), extensions);
  }

  private static NewMessage use(String agent) {
    return NewMessage.text("use spin {\"n\": 1}").to(new AgentTypeId(agent));
  }

  /// Has so many calls or agents spin, each in a context of its own.
  private List<Call> spin(EmbeddedTestServer talk, String agent, int count) throws Exception {
    var calls = new ArrayList<Call>();
    for (var i = 0; i < count; i++) {
      var context = talk.client.createContext(NewContext.titled("spins")).contextId();
      calls.add(new Call(context, talk.client.send(context, use(agent)).taskId()));
    }
    spinningTool.started.acquire(count);
    return calls;
  }

  /// The last event of this kind before the task's end.
  private static <E> E end(EmbeddedTestServer talk, Call call, Class<E> type)
      throws InterruptedException {
    E last = null;
    try (var stream = talk.client.stream(call.context(), Position.START, StreamFilter.ALL)) {
      for (var next = stream.next(); next.isPresent(); next = stream.next()) {
        var event = next.get().event();
        last = type.isInstance(event) ? type.cast(event) : last;
        if (call.task().equals(next.get().taskId()) && terminal(event)) {
          break;
        }
      }
    }
    return last;
  }

  private HttpResponse<String> get(EmbeddedTestServer talk, String path)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create(talk.server.url() + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private void awaitStuck(EmbeddedTestServer talk, int count)
      throws IOException, InterruptedException {
    while (!get(talk, "/metrics").body().contains("parley_threads_stuck " + count + "\n")) {
      Thread.onSpinWait();
    }
  }
}
