package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.agents.AgentsApi;
import dev.parley.http.ApiTokens;
import dev.parley.http.HttpLimits;
import dev.parley.http.WebSocketTestClient;
import dev.parley.identity.Caller;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.socketio.SocketPeer;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Many who follow one agent by socket: they share what they are told, each at its own pace.
class AgentManySubscribersTest {

  private static final String PLAIN = "/api/agents/ws";
  private static final String SOCKET_IO = "/socket.io/?EIO=4&transport=websocket";

  /// Nobody is sent away because the machine is slow.
  private static final HttpLimits PATIENT =
      new HttpLimits(1 << 20, 1_000, Duration.ofMinutes(10), Duration.ofMinutes(10));

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL.limits(PATIENT));
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  /// An agent that does what the test says.
  private final class Puppet {
    private final ContextId context;
    private final String id;
    private final Origin origin;
    private int said;

    Puppet(String id, String owner) {
      this.id = id;
      this.context = new ContextId("context-of-" + id);
      this.origin = Origin.root(new TaskId(id), new AgentTypeId("agent-code"));
      testServer.log.create(context, new ContextCreated(owner, null, null));
      append(new TaskCreated(Initiator.USER, null, null, "go", null, null, null, null));
      append(new TaskStatus(TaskState.WORKING, null, null));
    }

    void append(Event... events) {
      var drafts = Stream.of(events).map(event -> new EventDraft(origin, event)).toList();
      testServer.log.append(context, AppendGuard.none(), _ -> drafts);
    }

    /// Says so many pieces, and returns the number of the last.
    long say(int count, String text) {
      var from = said;
      said += count;
      var pieces =
          IntStream.range(from, said)
              .mapToObj(n -> new EventDraft(origin, new ContentDelta(text, n, new BlockId("b"))))
              .toList();
      testServer.log.append(context, AppendGuard.none(), _ -> pieces);
      return said + 1L;
    }

    void end() {
      append(new TaskStatus(TaskState.COMPLETED, null, null), new TaskComplete("done", null, null));
    }
  }

  /// Somebody on a socket of either kind.
  private final class Follower implements AutoCloseable {
    private final WebSocketTestClient socket;
    private final boolean plain;

    Follower(String path, boolean reading) {
      plain = path.equals(PLAIN);
      socket = new WebSocketTestClient(testServer.url.getPort(), path, Map.of(), reading);
      if (!plain) {
        socket.send("40");
      }
    }

    void subscribe(String agent, long since) {
      var about = "{\"agentId\":\"" + agent + "\",\"since\":" + since + "}";
      socket.send(
          plain
              ? "{\"event\":\"subscribe\",\"data\":" + about + "}"
              : "42[\"subscribe\"," + about + "]");
    }

    /// The next event, as `[name, argument]`.
    JsonNode next() throws InterruptedException {
      var text = socket.next();
      if (plain) {
        var said = Json.mapper().readTree(text);
        return Json.mapper().createArrayNode().add(said.path("event")).add(said.path("data"));
      }
      if (text.equals("2")) {
        socket.send("3");
      }
      return text.startsWith("42") ? Json.mapper().readTree(text.substring(2)) : next();
    }

    /// Numbers of messages up to this one, or to the end of the agent; those of a gap are negative.
    List<Long> numbers(long last) throws InterruptedException {
      var numbers = new ArrayList<Long>();
      while (true) {
        var event = next();
        var argument = event.path(1);
        switch (event.path(0).asString()) {
          case "agent:message" -> numbers.add(argument.at("/message/sequenceNumber").asLong());
          case "agent:gap" -> {
            numbers.add(-argument.path("from").asLong());
            numbers.add(-argument.path("to").asLong());
          }
          case "agent:complete" -> {
            return numbers;
          }
          default -> {}
        }
        if (!numbers.isEmpty() && numbers.getLast() == last) {
          return numbers;
        }
      }
    }

    @Override
    public void close() {
      socket.close();
    }
  }

  @Test
  void each_hears_what_follows_its_own_place_once_and_in_order()
      throws Exception { // AGENT-30, AGENT-33
    var agent = new Puppet("counter", ApiTokens.LOCAL);
    var before = agent.say(100, "before");
    var followers = new ArrayList<Follower>();
    try {
      for (var i = 0; i < 8; i++) {
        followers.add(new Follower(i % 2 == 0 ? PLAIN : SOCKET_IO, true));
        followers.getLast().subscribe(agent.id, 11L * i);
      }
      for (var i = 0; i < 8; i++) {
        assertThat(followers.get(i).numbers(before))
            .isEqualTo(LongStream.rangeClosed(11L * i + 1, before).boxed().toList());
      }
      agent.say(400, "live");
      agent.end();
      // The answer is a message, too.
      var expected = LongStream.rangeClosed(before + 1, before + 401).boxed().toList();
      for (var follower : followers) {
        assertThat(follower.numbers(-1)).isEqualTo(expected);
      }
    } finally {
      followers.forEach(Follower::close);
    }
  }

  @Test
  void who_stops_reading_keeps_nobody_waiting_and_is_told_what_it_missed()
      throws Exception { // AGENT-65
    var agent = new Puppet("talker", ApiTokens.LOCAL);
    try (var quick = new Follower(SOCKET_IO, true);
        var stuck = new Follower(PLAIN, false)) {
      quick.subscribe(agent.id, 0);
      stuck.subscribe(agent.id, 0);
      var heard = new ArrayList<>(quick.numbers(1));
      // More than the network takes for somebody who does not read.
      for (var i = 0; i < 26; i++) {
        heard.addAll(quick.numbers(agent.say(500, "x".repeat(3_000))));
      }
      assertThat(heard).isEqualTo(LongStream.rangeClosed(1, 13_001).boxed().toList());

      stuck.socket.read();
      agent.end();
      var told = stuck.numbers(-1);
      var gap = IntStream.range(0, told.size()).filter(i -> told.get(i) < 0).findFirst();
      assertThat(gap).as("a gap in what was told").isPresent();
      var at = gap.getAsInt();
      var from = -told.get(at);
      var to = -told.get(at + 1);
      assertThat(told.subList(0, at)).isEqualTo(LongStream.rangeClosed(1, from).boxed().toList());
      assertThat(told.subList(at + 2, told.size()))
          .isEqualTo(LongStream.rangeClosed(to, 13_002).boxed().toList());
      assertThat(to - from).isGreaterThan(1);
    }
  }

  /// Remembers which agents it hears have come.
  private record Watcher(Caller caller, LinkedBlockingQueue<String> created) implements SocketPeer {
    Watcher(String principal) {
      this(
          Caller.token(principal, false, InetAddress.getLoopbackAddress()),
          new LinkedBlockingQueue<>());
    }

    @Override
    public String id() {
      return caller.principal();
    }

    @Override
    public void emit(String event, JsonNode argument) {
      if (event.equals("agent:created")) {
        created.add(argument.at("/agent/id").asString());
      }
    }

    String next() throws InterruptedException {
      return String.valueOf(created.poll(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void those_who_watch_together_hear_of_their_own_agents_only() throws Exception { // AGENT-61
    var ann = new Watcher("ann");
    var bob = new Watcher("bob");
    var sessions = new AgentsApi(testServer.api).sessionFactory();
    var visits = new ArrayList<>(List.of(sessions.connect(ann)));
    visits.add(sessions.connect(bob));
    new Puppet("of-ann", "ann");
    new Puppet("of-bob", "bob");
    new Puppet("of-all", ApiTokens.LOCAL);

    assertThat(List.of(ann.next(), ann.next())).containsExactly("of-ann", "of-all");
    assertThat(List.of(bob.next(), bob.next())).containsExactly("of-bob", "of-all");
    visits.forEach(socketSession -> socketSession.onDisconnect());
  }
}
