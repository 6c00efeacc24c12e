package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;

/// Parley servers that call each other as sub-agents, three levels deep.
@Timeout(120)
class ParleyChainTest {

  private static final String WORKER =
      "agents: [{id: boss, tools: [shell]}]\napprovals: {a2aCallers: [local]}\n";

  @TempDir Path folder;

  /// A server with an agent `boss` that hands work to the `agent` at `url`, which is called `peer` there.
  private static String handing(String url, String agent) {
    return """
    agents:
    - {id: peer, type: a2a, url: "%s/a2a/%s", version: "1.0", transport: jsonrpc}
    - {id: boss, tools: ["agent:peer"]}
    approvals: {a2aCallers: [local]}
    """
        .formatted(url, agent);
  }

  private RemoteAgentTestBed bottom() {
    return new RemoteAgentTestBed(folder.resolve("bottom"), WORKER);
  }

  private RemoteAgentTestBed above(String name, String url) {
    return new RemoteAgentTestBed(folder.resolve(name), handing(url, "boss"));
  }

  private static String deep(String work) {
    return "delegate delegate " + work + " to peer to peer";
  }

  @Test
  void an_approval_at_the_bottom_is_given_at_the_top() throws Exception {
    try (var bottom = bottom();
        var middle = above("middle", bottom.site.url.toString());
        var top = above("top", middle.site.url.toString())) {
      var context = RemoteAgentTestBed.context();
      var task = top.say(context, "boss", deep("run echo deep down"));
      var question = top.question(context, 0);
      assertThat(question.inputType()).isEqualTo(InputType.CONFIRMATION);
      assertThat(String.valueOf(question.metadata())).contains("shell", "echo deep down");
      assertThat(pending(bottom)).hasSize(1);
      top.give(context, question, BooleanNode.TRUE);
      assertThat(top.answer(context, task)).contains("deep down");
      assertThat(pending(bottom)).isEmpty();
      assertThat(top.json("/api/inbox").path("items")).isEmpty();
    }
  }

  @Test
  void a_refusal_at_the_top_is_one_at_the_bottom() throws Exception {
    try (var bottom = bottom();
        var middle = above("middle", bottom.site.url.toString());
        var top = above("top", middle.site.url.toString())) {
      var context = RemoteAgentTestBed.context();
      var task = top.say(context, "boss", deep("run touch made"));
      top.give(context, top.question(context, 0), BooleanNode.FALSE);
      top.end(context, task);
      assertThat(folder.resolve("bottom").resolve("made")).doesNotExist();
      assertThat(pending(bottom)).isEmpty();
    }
  }

  @Test
  void a_cancel_at_the_top_reaches_the_bottom_while_that_waits() throws Exception {
    try (var bottom = bottom();
        var middle = above("middle", bottom.site.url.toString());
        var top = above("top", middle.site.url.toString())) {
      var context = RemoteAgentTestBed.context();
      var task = top.say(context, "boss", deep("run echo never"));
      top.question(context, 0);
      top.cancel(context, task);
      assertThat(((TaskStatus) top.end(context, task)).status()).isEqualTo(TaskState.CANCELED);
      awaitIdle(middle);
      awaitIdle(bottom);
      assertThat(pending(bottom)).isEmpty();
    }
  }

  @Test
  void a_cancel_at_the_top_reaches_the_bottom_while_that_works() throws Exception {
    try (var bottom = bottom();
        var middle = above("middle", bottom.site.url.toString());
        var top =
            new RemoteAgentTestBed(
                folder.resolve("top"), handing(middle.site.url.toString(), "peer"))) {
      var context = RemoteAgentTestBed.context();
      var task = top.say(context, "peer", "count slowly to 1000");
      top.await(context, _ -> top.text(context).contains("3"));
      top.cancel(context, task);
      assertThat(((TaskStatus) top.end(context, task)).status()).isEqualTo(TaskState.CANCELED);
      awaitIdle(middle);
      awaitIdle(bottom);
    }
  }

  @Test
  void when_the_one_in_the_middle_is_killed_nothing_is_lost_or_doubled() throws Exception {
    var counted = IntStream.rangeClosed(1, 60).mapToObj(String::valueOf);
    var all = counted.collect(Collectors.joining(" "));
    try (var bottom = bottom()) {
      var yaml =
          "agents: [{id: boss, type: a2a, url: \""
              + bottom.site.url
              + "/a2a/boss\", version: \"1.0\", transport: jsonrpc}]\n";
      var first = CrashingServer.start(folder.resolve("middle"), 0, yaml);
      try (var top = above("top", first.url)) {
        var context = RemoteAgentTestBed.context();
        var task = top.say(context, "peer", "count slowly to 60");
        top.await(context, _ -> top.text(context).startsWith("1 2 3 4 5"));
        first.kill();
        try (var _ = CrashingServer.start(folder.resolve("middle"), first.port(), yaml)) {
          assertThat(top.answer(context, task)).isEqualTo(all);
          assertThat(top.text(context)).isEqualTo(all);
        }
      } finally {
        first.close();
      }
    }
  }

  /// Waits until no task of the site is open.
  private static void awaitIdle(RemoteAgentTestBed scene) throws InterruptedException {
    for (var item : scene.json("/api/contexts").path("items")) {
      var context = new ContextId(item.path("contextId").asString());
      scene.await(
          context, _ -> scene.site.log.inspect(context, state -> state.openTasks().isEmpty()));
    }
  }

  private static JsonNode pending(RemoteAgentTestBed scene) {
    return scene.json("/api/inbox").path("items");
  }
}
