package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtId;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a reader may leave out of an agent's thoughts: EVENT-55, EVENT-64, EVENT-66.
class ThoughtFilterTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void thoughts_are_filtered_by_verbosity_type_and_confidence() {
    var context = testServer.context("c");
    thought(context, ThoughtType.PLANNING, Verbosity.BRIEF, 0.9);
    thought(context, ThoughtType.PLANNING, Verbosity.DETAILED, 0.9);
    thought(context, ThoughtType.DECISION, Verbosity.BRIEF, 0.9);
    thought(context, ThoughtType.PLANNING, Verbosity.NORMAL, 0.2);
    thought(context, ThoughtType.PLANNING, Verbosity.NORMAL, null);

    var page =
        testServer.get(
            "/api/contexts/c/events?kinds=thought-stream&verbosity=normal"
                + "&thoughtTypes=planning,strategy&minConfidence=0.5");

    var seqs = new ArrayList<Integer>();
    Json.mapper()
        .readTree(page.body())
        .path("events")
        .forEach(e -> seqs.add(e.path("seq").asInt()));
    assertThat(seqs).containsExactly(2, 6);
  }

  private void thought(ContextId context, ThoughtType type, Verbosity verbosity, Double sure) {
    var metadata = sure == null ? null : Json.object().put("confidence", sure);
    testServer.append(
        context, new ThoughtStream(new ThoughtId("x"), type, verbosity, "hm", 0, metadata, null));
  }
}
