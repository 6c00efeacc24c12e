package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.supervisor.Supervisor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What is stored of one context is damaged: the server starts, says so, and serves all others.
@Timeout(120)
class DamagedContextTest {

  private static final ContextId BAD = new ContextId("bad");
  private static final ContextId GOOD = new ContextId("good");

  @TempDir Path folder;

  @Test
  void one_damaged_context_is_reported_and_all_others_are_served() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      begin(testServer.log, BAD);
      // Enough to be moved into segments, with the state of its context, by the commits that
      // follow.
      fill(testServer.log, BAD);
      begin(testServer.log, GOOD);
      fill(testServer.log, GOOD);
    }
    damage();

    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      for (var head = testServer.log.head(GOOD);
          testServer.log.inspect(GOOD, state -> !state.openTasks().isEmpty());
          head = testServer.log.head(GOOD)) {
        assertThat(testServer.log.await(GOOD, head, Duration.ofSeconds(30))).isTrue();
      }
      for (var path : new String[] {"", "/messages", "/events"}) {
        var reply = testServer.get("/api/contexts/bad" + path);
        assertThat(reply.statusCode()).as(path).isEqualTo(500);
        var problem = Json.mapper().readTree(reply.body());
        assertThat(problem.path("code").asString()).isEqualTo("context-damaged");
        assertThat(problem.path("detail").asString()).contains("bad");
      }
      var said = testServer.post("/api/contexts/bad/messages", "{\"content\":\"hi\"}");
      assertThat(said.statusCode()).isEqualTo(500);
      assertThat(testServer.get("/api/contexts").statusCode()).isEqualTo(200);
      assertThat(testServer.get("/api/contexts").body()).contains("good");
      assertThat(
              testServer.post("/api/contexts/good/messages", "{\"content\":\"hi\"}").statusCode())
          .isEqualTo(202);
    }
  }

  @Test
  void a_damaged_context_can_be_deleted() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      begin(testServer.log, BAD);
      fill(testServer.log, BAD);
      begin(testServer.log, GOOD);
      fill(testServer.log, GOOD);
    }
    damage();

    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      assertThat(testServer.get("/api/contexts/bad").statusCode()).isEqualTo(500);
      assertThat(testServer.send(testServer.request("/api/contexts/bad").DELETE()).statusCode())
          .isEqualTo(204);
      assertThat(testServer.get("/api/contexts/bad").statusCode()).isEqualTo(410);
      assertThat(testServer.get("/api/contexts/good").statusCode()).isEqualTo(200);
    }
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      assertThat(testServer.get("/api/contexts/bad").statusCode()).isEqualTo(410);
      assertThat(testServer.get("/api/contexts/good").statusCode()).isEqualTo(200);
    }
  }

  private static void begin(EventLog log, ContextId context) {
    log.create(context, new ContextCreated("local", null, null));
    var origin = Origin.root(new TaskId("task-" + context), Supervisor.ID);
    log.append(
        context,
        AppendGuard.none(),
        _ -> {
          var drafts = new ArrayList<EventDraft>();
          drafts.add(
              new EventDraft(
                  origin,
                  new TaskCreated(Initiator.USER, null, null, "hello", null, null, null, null)));
          drafts.add(new EventDraft(origin, new TaskStatus(TaskState.WORKING, null, null)));
          return drafts;
        });
  }

  private static void fill(EventLog log, ContextId context) {
    log.append(
        context,
        AppendGuard.none(),
        _ ->
            IntStream.range(0, 300)
                .mapToObj(i -> EventDraft.of(new ContextUpdated("title " + i, null)))
                .toList());
  }

  private void damage() throws Exception {
    try (var files = Files.walk(folder)) {
      var file = files.filter(f -> f.endsWith("log.db")).findFirst().orElseThrow();
      try (var db = DriverManager.getConnection("jdbc:sqlite:" + file);
          var statement = db.createStatement()) {
        assertThat(
                statement.executeUpdate(
                    "UPDATE contexts SET state = x'7b7b' WHERE id = 'bad' AND state IS NOT NULL"))
            .isOne();
      }
    }
  }
}
