package dev.parley.api.agui;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskComplete;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Events as clients of other versions of AG-UI accept them.
class AgUiVersionTest {

  @Test
  void an_outcome_that_the_old_version_lacks_is_in_the_metadata() {
    var event = finished("cancelled");
    var older = AgUiVersion.V0.adapt(event);

    assertThat(older.has("outcome")).isFalse();
    assertThat(older.at("/metadata/parley/outcome/type").asString()).isEqualTo("cancelled");
    assertThat(event.at("/outcome/type").asString()).isEqualTo("cancelled");
    assertThat(AgUiVersion.V1_0.adapt(event)).isEqualTo(event);
  }

  @Test
  void an_outcome_that_the_old_version_has_stays() {
    var event = finished("success");

    assertThat(AgUiVersion.V0.adapt(event)).isEqualTo(event);
  }

  @Test
  void a_version_that_cannot_be_read_is_answered_in_1_0() {
    assertThat(AgUiVersion.of("draft")).isEqualTo(AgUiVersion.V1_0);
    assertThat(AgUiVersion.of("0.0.59")).isEqualTo(AgUiVersion.V0);
    assertThat(AgUiVersion.of(null)).isEqualTo(AgUiVersion.V0);
  }

  @Test
  void an_answer_that_ended_early_says_why_in_the_result_of_its_run() {
    var results = results("length");

    assertThat(results).isNotEmpty();
    assertThat(results)
        .allSatisfy(
            result -> {
              assertThat(result.path("content").isString()).isTrue();
              assertThat(result.path("finishReason").asString()).isEqualTo("length");
              assertThat(result.path("truncated").asBoolean()).isTrue();
            });
    assertThat(results("refusal"))
        .allSatisfy(result -> assertThat(result.path("truncated").asBoolean()).isFalse());
    assertThat(results("")).allSatisfy(result -> assertThat(result.isString()).isTrue());
  }

  /// The results of the runs of some threads whose answers all ended for this reason.
  private static List<JsonNode> results(String reason) {
    var results = new ArrayList<JsonNode>();
    for (var seed = 0; seed < 20; seed++) {
      var thread = new RandomThread(seed);
      var agUiProjection = new AgUiProjection(RandomThread.THREAD, null, null);
      for (var entry : thread.entries) {
        agUiProjection.apply(ended(entry, reason)).stream()
            .filter(event -> AgUiEvent.RUN_FINISHED.is(event) && event.has("result"))
            .forEach(event -> results.add(event.get("result")));
      }
    }
    return results;
  }

  private static Entry ended(Entry entry, String reason) {
    if (!(entry.event() instanceof TaskComplete complete) || reason.isEmpty()) {
      return entry;
    }
    var metadata = complete.metadata() == null ? Json.object() : complete.metadata().deepCopy();
    metadata.put("finishReason", reason);
    return new Entry(
        entry.contextId(),
        entry.position(),
        entry.eventId(),
        entry.timestamp(),
        entry.origin(),
        new TaskComplete(complete.content(), complete.artifacts(), metadata));
  }

  private static ObjectNode finished(String outcome) {
    var event = AgUiEvent.RUN_FINISHED.json().put("threadId", "t").put("runId", "r");
    event.putObject("outcome").put("type", outcome);
    return event;
  }
}
