package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.agents.AgentsApi;
import dev.parley.http.ApiTokens;
import dev.parley.identity.Caller;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.socketio.SocketPeer;
import dev.parley.socketio.SocketSession;
import java.io.IOException;
import java.net.InetAddress;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Agents by socket, without the socket: what a peer is told.
class AgentSocketSessionTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private record Heard(String event, JsonNode argument) {
    String agent() {
      return argument.path("agentId").asString("");
    }

    long number() {
      return argument.path("message").path("sequenceNumber").asLong();
    }
  }

  /// Remembers what it is told. The monitor guards the list.
  private static final class Visitor implements SocketPeer {
    private final Caller caller;
    private final List<Heard> heard = new ArrayList<>();
    private boolean left;
    Predicate<Heard> stuckAt = _ -> false;
    final CountDownLatch stuck = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);

    Visitor(String principal) {
      this.caller = Caller.local(InetAddress.getLoopbackAddress());
      assertThat(caller.principal()).isEqualTo(principal);
    }

    @Override
    public String id() {
      return "peer-1";
    }

    @Override
    public Caller caller() {
      return caller;
    }

    @Override
    public void emit(String event, JsonNode argument) throws IOException, InterruptedException {
      var said = new Heard(event, Json.mapper().readTree(argument.toString()));
      synchronized (this) {
        if (left) {
          throw new IOException("left");
        }
        heard.add(said);
        notifyAll();
      }
      if (stuckAt.test(said)) {
        stuck.countDown();
        goOn.await();
      }
    }

    synchronized void leave() {
      left = true;
    }

    synchronized List<Heard> all(String event) {
      return heard.stream().filter(one -> one.event().equals(event)).toList();
    }

    synchronized Heard await(Predicate<Heard> wanted) throws InterruptedException {
      var deadline = System.nanoTime() + 30_000_000_000L;
      while (true) {
        var found = heard.stream().filter(wanted).findFirst();
        if (found.isPresent()) {
          return found.get();
        }
        var left = deadline - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError("it was not told; but " + heard);
        }
        wait(left / 1_000_000 + 1);
      }
    }

    synchronized void awaitMessages(int count) throws InterruptedException {
      while (all("agent:message").size() < count) {
        wait();
      }
    }

    synchronized List<String> told(String agent) {
      return heard.stream()
          .filter(one -> one.agent().equals(agent) && !one.event().equals("agent:updated"))
          .map(Heard::event)
          .toList();
    }

    Heard await(String event, String agent) throws InterruptedException {
      return await(one -> one.event().equals(event) && one.agent().equals(agent));
    }

    List<JsonNode> messages(String agent) {
      return all("agent:message").stream()
          .filter(one -> one.agent().equals(agent))
          .map(one -> one.argument().path("message"))
          .toList();
    }
  }

  private SocketSession welcome(Visitor visitor) {
    return new AgentsApi(testServer.api).sessionFactory().connect(visitor);
  }

  @Test
  void a_subscriber_hears_exactly_what_rest_has_in_the_same_numbers() throws Exception {
    // AGENT-30, AGENT-33, AGENT-53, AGENT-59, AGENT-60, AGENT-96
    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    assertThat(visitor.all("connected").getFirst().argument().path("clientId").asString())
        .isEqualTo("peer-1");
    var agent = launch("count slowly to 5");

    var answer = socketSession.onEvent("subscribe", about(agent));

    assertThat(answer.path("ok").asBoolean()).isTrue();
    var complete = visitor.await("agent:complete", agent);
    assertThat(visitor.all("subscribed")).hasSize(1);
    assertThat(visitor.messages(agent)).isEqualTo(messages(agent, 0));
    assertThat(complete.argument().path("result").path("status").asString()).isEqualTo("success");
    assertThat(complete.argument().path("result").path("messageCount").asInt())
        .isEqualTo(visitor.messages(agent).size());
    assertThat(visitor.all("agent:complete")).hasSize(1); // AGENT-57
    assertThat(visitor.all("agent:status")) // AGENT-54
        .extracting(one -> one.argument().path("status").asString())
        .containsExactly("running", "completed");
    socketSession.onDisconnect();
  }

  @Test
  void everybody_hears_that_an_agent_came_changed_and_went()
      throws Exception { // AGENT-55, AGENT-58
    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    var agent = launch("say hi");
    var created =
        visitor.await(
            one ->
                one.event().equals("agent:created")
                    && one.argument().path("agent").path("id").asString().equals(agent));
    assertThat(created.argument().path("agent").path("type").asString()).isEqualTo("agent-code");
    visitor.await(
        one ->
            one.event().equals("agent:updated")
                && one.agent().equals(agent)
                && one.argument().path("status").asString().equals("completed"));
    assertThat(visitor.all("agent:message")).isEmpty(); // AGENT-61
    assertThat(delete("/api/agents/" + agent + "/delete").statusCode()).isEqualTo(204);
    visitor.await("agent:deleted", agent);

    var stopped = launch("count slowly to 1000");
    assertThat(delete("/api/agents/" + stopped).statusCode()).isEqualTo(204);
    visitor.await("agent:deleted", stopped);
    socketSession.onDisconnect();
  }

  @Test
  void a_finished_agent_is_told_whole_or_from_a_number_on() throws Exception { // AGENT-63, AGENT-33
    var agent = launch("count to 3");
    var first = new Visitor(ApiTokens.LOCAL);
    welcome(first).onEvent("subscribe", about(agent));
    first.await("agent:complete", agent);
    var all = first.messages(agent);

    for (var since : List.of(0, 2, all.size())) {
      var visitor = new Visitor(ApiTokens.LOCAL);
      var socketSession = welcome(visitor);
      socketSession.onEvent("subscribe", about(agent).put("since", since));
      visitor.await("agent:complete", agent);
      assertThat(visitor.messages(agent)).isEqualTo(all.subList(since, all.size()));
      assertThat(visitor.all("agent:status").getLast().argument().path("status").asString())
          .isEqualTo("completed");
      socketSession.onDisconnect();
    }
  }

  @Test
  void a_failed_agent_is_told_as_an_error_and_a_failed_end() throws Exception { // AGENT-56
    var agent = launch("fail");
    var visitor = new Visitor(ApiTokens.LOCAL);
    welcome(visitor).onEvent("subscribe", about(agent));
    var complete = visitor.await("agent:complete", agent);
    assertThat(complete.argument().path("result").path("status").asString()).isEqualTo("failed");
    var error = visitor.all("agent:error").getFirst().argument().path("error");
    assertThat(error.path("message").asString()).isNotEmpty();
    assertThat(error.path("name").asString()).isNotEmpty();
  }

  @Test
  void what_cannot_be_done_is_told_and_the_visit_goes_on() throws Exception { // AGENT-60, AGENT-63
    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    socketSession.onEvent("subscribe", about("nobody"));
    socketSession.onEvent("subscribe", about("not an id"));
    socketSession.onEvent("subscribe", Json.object());
    socketSession.onEvent("subscribe", about(launch("say hi")).put("since", -1));
    socketSession.onEvent("dance", Json.object());
    assertThat(visitor.all("error"))
        .extracting(one -> one.argument().path("event").asString())
        .containsExactly("subscribe", "subscribe", "subscribe", "subscribe", "dance");
    assertThat(visitor.all("error"))
        .extracting(heard -> heard.argument().path("message").asString())
        .noneMatch(message -> message.contains("taskId"))
        .filteredOn(message -> message.startsWith("agentId is"))
        .containsExactly(
            "agentId is not the id of an agent", "agentId is missing: send {\"agentId\": \"…\"}");
    assertThat(visitor.all("error").getFirst().argument().path("message").asString())
        .isEqualTo("no such agent: nobody");
    assertThat(visitor.all("error").getFirst().agent()).isEqualTo("nobody");
    assertThat(visitor.all("error"))
        .allMatch(error -> !error.argument().path("code").asString("").isEmpty());
    var agent = launch("say hi");
    socketSession.onEvent("subscribe", about(agent));
    visitor.await("agent:complete", agent);
    socketSession.onDisconnect();
  }

  @Test
  void whoever_unsubscribed_or_left_hears_nothing_more() throws Exception { // AGENT-31
    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    var agent = launch("count slowly to 1000");
    socketSession.onEvent("subscribe", about(agent));
    visitor.await(one -> one.event().equals("agent:message") && one.number() == 5);
    socketSession.onEvent("unsubscribe", about(agent));
    visitor.await("unsubscribed", agent);
    var leaver = new Visitor(ApiTokens.LOCAL);
    var other = welcome(leaver);
    other.onEvent("subscribe", about(agent));
    leaver.await(one -> one.event().equals("agent:message") && one.number() == 5);
    leaver.leave(); // AGENT-88: the agent goes on.
    other.onDisconnect();
    var last = visitor.messages(agent).size();
    assertThat(delete("/api/agents/" + agent).statusCode()).isEqualTo(204);
    assertThat(messages(agent, 0)).hasSizeGreaterThanOrEqualTo(last);
    assertThat(visitor.all("agent:complete")).isEmpty();
    socketSession.onDisconnect();
  }

  @Test
  void a_peer_that_falls_too_far_behind_is_told_and_catches_up_by_rest()
      throws Exception { // AGENT-65
    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    var agent = launch("count slowly to 1000");
    visitor.stuckAt = one -> one.event().equals("agent:message") && one.number() >= 6;
    socketSession.onEvent("subscribe", about(agent));
    visitor.stuck.await();
    var context = context(agent);
    var entry =
        ModelInstructions.await(testServer.log, context, e -> e.kind() == Kind.CONTENT_DELTA);
    var origin = java.util.Objects.requireNonNull(entry.origin());
    var filler = new dev.parley.protocol.BlockId("filler");
    for (var i = 0; i < 101; i++) {
      var from = i * 100;
      var many =
          java.util.stream.IntStream.range(from, from + 100)
              .mapToObj(
                  n ->
                      new dev.parley.log.EventDraft(
                          origin,
                          new dev.parley.protocol.ContentEvent.ContentDelta("x", n, filler)))
              .toList();
      testServer.log.append(context, dev.parley.log.AppendGuard.none(), _ -> many);
    }
    visitor.goOn.countDown();

    var gap = visitor.await("agent:gap", agent);
    assertThat(delete("/api/agents/" + agent).statusCode()).isEqualTo(204);
    visitor.await("agent:complete", agent);

    var from = gap.argument().path("from").asLong();
    var told =
        visitor.messages(agent).stream().map(m -> m.path("sequenceNumber").asLong()).toList();
    assertThat(told).doesNotHaveDuplicates().isSorted();
    assertThat(told).startsWith(LongStream.rangeClosed(1, from).boxed().toArray(Long[]::new));
    var missing = messages(agent, from);
    assertThat(missing.getFirst().path("sequenceNumber").asLong()).isEqualTo(from + 1);
    assertThat(visitor.messages(agent).getLast()).isEqualTo(missing.getLast());
    socketSession.onDisconnect();
  }

  @Test
  void agents_that_have_ended_are_not_counted_among_those_that_are_followed() throws Exception {
    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    for (var i = 0; i < 101; i++) {
      var agent = launch("say hi");
      assertThat(socketSession.onEvent("subscribe", about(agent)).path("ok").asBoolean()).isTrue();
      visitor.await("agent:complete", agent);
    }
    assertThat(visitor.all("error")).isEmpty();
    socketSession.onDisconnect();
  }

  @Test
  void whoever_asks_for_what_comes_after_the_end_is_told_where_that_is() throws Exception {
    var agent = launch("count to 3");
    var first = new Visitor(ApiTokens.LOCAL);
    welcome(first).onEvent("subscribe", about(agent));
    first.await("agent:complete", agent);

    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    socketSession.onEvent("subscribe", about(agent).put("since", 1_000));
    visitor.await("agent:complete", agent);
    assertThat(visitor.all("agent:gap"))
        .extracting(one -> one.argument().path("from").asInt())
        .containsExactly(first.messages(agent).size());
    assertThat(visitor.messages(agent)).isEmpty();
    socketSession.onDisconnect();
  }

  @Test
  void nothing_is_told_after_unsubscribed() throws Exception { // AGENT-31
    var visitor = new Visitor(ApiTokens.LOCAL);
    var socketSession = welcome(visitor);
    var agent = launch("count slowly to 1000");
    for (var i = 0; i < 20; i++) {
      var before = visitor.messages(agent).size();
      socketSession.onEvent("subscribe", about(agent));
      visitor.awaitMessages(before + 3);
      socketSession.onEvent("unsubscribe", about(agent));
      assertThat(visitor.told(agent).getLast()).isEqualTo("unsubscribed");
    }
    socketSession.onDisconnect();
    assertThat(delete("/api/agents/" + agent).statusCode()).isEqualTo(204);
  }

  private static ObjectNode about(String agent) {
    return Json.object().put("agentId", agent);
  }

  private String launch(String prompt) {
    var body = Json.object().put("type", "agent-code").put("prompt", prompt).toString();
    return Json.mapper()
        .readTree(testServer.post("/api/agents", body).body())
        .path("agentId")
        .asString();
  }

  private ContextId context(String agent) {
    var shown = Json.mapper().readTree(testServer.get("/api/agents/" + agent).body());
    return new ContextId(shown.path("session").path("id").asString());
  }

  private List<JsonNode> messages(String agent, long since) {
    var all = new ArrayList<JsonNode>();
    for (var after = since; ; after = all.getLast().path("sequenceNumber").asLong()) {
      var page = testServer.get("/api/agents/" + agent + "/messages?since=" + after).body();
      var read = Json.mapper().readTree(page).valueStream().toList();
      if (read.isEmpty()) {
        return all;
      }
      all.addAll(read);
    }
  }

  private HttpResponse<String> delete(String path) {
    return testServer.send(testServer.request(path).DELETE());
  }
}
