package dev.parley.api.agents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.log.MemoryLog;
import dev.parley.projection.AnswerSource;
import dev.parley.projection.EntryNumbering;
import dev.parley.projection.TestViews;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Origin;
import dev.parley.protocol.RandomEvents;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/// Every numbered event can be encoded as a message.
class AgentMessageEncoderTest {

  private static final TaskId AGENT = new TaskId("a");
  private static final Origin ROOT = Origin.root(AGENT, new AgentTypeId("agent"));
  private static final int SAMPLES = 200;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(Kind.class)
  void an_event_of_every_kind_has_a_form_if_it_has_a_number(
      Kind kind) { // AGENT-40, AGENT-46, AGENT-83
    var random = new RandomEvents(kind.wire().hashCode());
    var log = new MemoryLog();
    var context = new ContextId("samples");
    log.create(context, new ContextCreated("local", null, null));
    try (var views = TestViews.open(folder.resolve("views.db"), log)) {
      var form = new AgentMessageEncoder(new AnswerSource(log, views));
      var claude = new ClaudeCodeFormat(log, views);
      for (var i = 0; i < SAMPLES; i++) {
        var made = random.entry(random.event(kind));
        var entry =
            new Entry(
                context,
                made.position(),
                made.eventId(),
                made.timestamp(),
                kind == Kind.MESSAGE ? null : ROOT,
                made.event());
        for (var line : claude.lines(entry)) {
          assertThat(line).doesNotContain("\n", "\r");
          assertThat(Json.mapper().readTree(line).path("type").asString()).isNotEmpty();
        }
        var root = EntryNumbering.root(entry);
        if (root != null) {
          JsonNode json =
              Json.mapper()
                  .valueToTree(
                      form.message(root, new NumberedReader.NumberedEntry(entry, 7, true, null)));
          assertThat(json.path("sequenceNumber").asLong()).isEqualTo(7);
          assertThat(json.path("type").asString())
              .isIn("assistant", "user", "system", "error", "tool", "response");
          assertThat(json.path("content").isString() || json.path("content").isContainer())
              .isTrue();
          if (entry.event() instanceof ContentDelta delta) {
            assertThat(json.path("content").asString()).isEqualTo(delta.delta());
          }
        }
      }
    }
  }

  @Test
  void internal_events_have_no_number() {
    var random = new RandomEvents(1);
    for (var kind : Kind.values()) {
      if (kind.internal()) {
        assertThat(EntryNumbering.root(random.entry(random.event(kind)))).isNull();
      }
    }
  }

  @Test
  void every_state_of_a_task_has_a_status_and_every_status_a_state() { // AGENT-51, CORE-3
    var used = EnumSet.noneOf(AgentStatus.class);
    for (var state : TaskState.values()) {
      var status = AgentStatus.of(state);
      used.add(status);
      assertThat(status.ended()).isEqualTo(state.terminal());
    }
    assertThat(used).containsExactly(AgentStatus.values());
    assertThat(new HashSet<>(Arrays.stream(AgentStatus.values()).map(AgentStatus::wire).toList()))
        .containsExactlyInAnyOrder(
            "initializing", "running", "paused", "completed", "failed", "terminated");
  }
}
