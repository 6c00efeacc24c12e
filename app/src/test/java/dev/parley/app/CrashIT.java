package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Ends the real program at fail points while agents run real commands, starts it again, and
/// compares the log with the ledger that the commands have written.
final class CrashIT {

  private static final int KILLED = 137;

  /// A supervisor delegates this to two agents, and each runs it.
  private static final String WORK = "delegate run `echo $PARLEY_CALL >> ledger` to a and b";

  /// Three contexts with this work have more events than this.
  private static final int ARRIVALS_MAX = 60;

  /// The fail points at which the program ends, each with a count.
  private static final List<String> PLACES =
      List.of(
          "submitted:1",
          "routed:1",
          "turn-durable:2",
          "children-written:1",
          "spawned:1",
          "tool-started:1",
          "tool-effect:1",
          "tool-completed:2",
          "after-complete:2");

  /// Further fail points, only for the long test run.
  private static final List<String> MORE =
      List.of(
          "begun",
          "model-asked",
          "turn-durable",
          "spawned",
          "calls-written",
          "tool-started",
          "tool-effect",
          "tool-completed",
          "before-complete",
          "after-complete");

  @TempDir Path folder;

  private Path data;
  private Path workspace;
  private Path config;

  @BeforeEach
  void configure() throws IOException {
    data = folder.resolve("data");
    workspace = Files.createDirectory(folder.resolve("work"));
    var agent =
        "{id: %s, description: Runs commands., tools: [shell], permissions: {allow: [shell]}}";
    var yaml =
        "agents: [%s, %s]\nworkspaces: [%s]\n"
            .formatted(agent.formatted("a"), agent.formatted("b"), workspace);
    config = Files.writeString(folder.resolve("parley.yaml"), yaml);
  }

  @Test
  void wherever_it_dies_it_goes_on_and_nothing_is_done_twice() throws Exception {
    for (var place : PLACES) {
      crash(place);
    }
    assertThat(ledger()).isNotEmpty();
  }

  @Test
  @Tag("long")
  void at_whichever_arrival_it_dies_it_goes_on_and_nothing_is_done_twice() throws Exception {
    for (var place : MORE) {
      for (var arrival = 1; arrival <= 3; arrival++) {
        crash(place + ":" + arrival);
      }
    }
  }

  @Test
  @Tag("long")
  void killed_a_hundred_times_at_random_nothing_is_done_twice() throws Exception {
    var random = new Random(100);
    try (var logWitness = new LogWitness()) {
      for (var round = 0; round < 100; round++) {
        try (var server = serve()) {
          logWitness.countArrivals();
          for (var i = 0; i < 3; i++) {
            var context = logWitness.create(server.url());
            logWitness.startWatching(server.url(), context);
            logWitness.send(server.url(), context, WORK);
          }
          logWitness.awaitArrivals(random.nextInt(ARRIVALS_MAX));
          server.kill();
        }
      }
      try (var server = serve()) {
        check(logWitness, server);
      }
    }
  }

  private RealProcess serve() {
    return RealProcess.serve(data, "--config", config.toString());
  }

  private void crash(String place) throws Exception {
    try (var logWitness = new LogWitness()) {
      try (var server = RealProcess.serveUntil(place, data, "--config", config.toString())) {
        var context = logWitness.create(server.url());
        try {
          logWitness.send(server.url(), context, WORK);
        } catch (UncheckedIOException died) {
          // The task may exist before the server has replied.
          assertThat(dies(place)).isTrue();
        }
        if (!dies(place)) {
          logWitness.awaitEnds(server.url());
          return;
        }
        assertThat(server.await()).as("it ends at %s", place).isEqualTo(KILLED);
      }
      try (var server = serve()) {
        check(logWitness, server);
      }
    } catch (AssertionError | IllegalStateException wrong) {
      throw new AssertionError("after dying at " + place + ": " + wrong.getMessage(), wrong);
    }
  }

  /// Not every fail point is reached more than once or twice.
  private static boolean dies(String place) {
    var arrival = Integer.parseInt(place.replaceFirst(".*:", ""));
    return switch (place.replaceFirst(":.*", "")) {
      case "submitted", "routed", "children-written", "spawned" -> arrival == 1;
      case "calls-written", "tool-started", "tool-effect", "tool-completed" -> arrival <= 2;
      default -> true;
    };
  }

  /// All tasks end once, commands that worked ran once, and none ran twice.
  private void check(LogWitness logWitness, RealProcess server) throws Exception {
    logWitness.awaitEnds(server.url());
    logWitness.holdTo(server.url());
    var ran = new HashMap<String, Integer>();
    ledger().forEach(key -> ran.merge(key, 1, Integer::sum));
    assertThat(ran.values()).allMatch(times -> times == 1);
    for (var context : logWitness.contexts()) {
      var events = logWitness.events(server.url(), context);
      var keys = new HashMap<String, String>();
      for (var event : events) {
        if (!event.path("toolName").asString("").equals("shell")) {
          continue;
        }
        var call = event.path("taskId").asString() + event.path("toolCallId").asString();
        switch (event.path("kind").asString()) {
          case "tool-start" -> keys.put(call, event.path("key").asString());
          case "tool-complete" -> assertEnded(event, ran.getOrDefault(keys.get(call), 0));
          default -> {} // Other events report no effects.
        }
      }
      assertThat(keys).hasSize(2);
    }
  }

  private static void assertEnded(JsonNode end, int times) {
    if (end.path("success").asBoolean()) {
      assertThat(times).as("%s", end).isOne();
    } else {
      assertThat(end.path("outcome").asString()).isEqualTo("outcome-unknown");
    }
  }

  private List<String> ledger() throws IOException {
    var file = workspace.resolve("ledger");
    return Files.exists(file) ? Files.readAllLines(file) : List.of();
  }
}
