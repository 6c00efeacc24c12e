package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.app.CampaignHistory.AcknowledgedFork;
import dev.parley.app.CampaignHistory.Acknowledgement;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

final class CampaignCheckerTest {

  private static final List<String> LOG =
      List.of(
          "{'kind':'context-created'}",
          "{'kind':'message','messageId':'m'}",
          "{'kind':'task-created','taskId':'t'}",
          "{'kind':'tool-start','taskId':'t','toolCallId':'c','toolName':'shell','key':'t/c'}",
          "{'kind':'tool-complete','taskId':'t','toolCallId':'c','toolName':'shell','success':true}",
          "{'kind':'content-delta','taskId':'t','blockId':'b','index':0,'delta':'1'}",
          "{'kind':'content-delta','taskId':'t','blockId':'b','index':1,'delta':' 2'}",
          "{'kind':'content-complete','taskId':'t','blockId':'b','content':'1 2'}",
          "{'kind':'task-status','taskId':'t','status':'completed'}",
          "{'kind':'task-complete','taskId':'t'}");

  private final CampaignHistory history = new CampaignHistory();

  private static List<JsonNode> numbered(List<String> events) {
    return IntStream.range(0, events.size())
        .<JsonNode>mapToObj(
            i ->
                Json.object()
                    .put("seq", i + 1)
                    .put("eventId", "e" + i)
                    .setAll((ObjectNode) Json.mapper().readTree(events.get(i).replace('\'', '"'))))
        .toList();
  }

  private List<String> check(List<JsonNode> log) {
    history.created("context");
    history.log("context", log);
    return CampaignChecker.check(history);
  }

  private static List<JsonNode> without(int index) {
    var events = new ArrayList<>(LOG);
    events.remove(index);
    return numbered(events);
  }

  private static List<JsonNode> with(String event) {
    var events = new ArrayList<>(LOG);
    events.add(event);
    return numbered(events);
  }

  @Test
  void a_complete_history_has_no_violation() {
    history.effect("t/c");
    history.acknowledged(new Acknowledgement("message", "context", "m", 2));
    var reading = history.read("reader", "context");
    numbered(LOG).subList(0, 5).forEach(event -> reading.frames().add(event.toString()));

    assertThat(check(numbered(LOG))).isEmpty();
  }

  @Test
  void a_context_that_is_missing_is_found() {
    history.created("context");

    assertThat(CampaignChecker.check(history)).singleElement().asString().contains("is missing");
  }

  @Test
  void a_missing_number_is_found() {
    history.effect("t/c");
    var log = new ArrayList<>(numbered(LOG));
    log.remove(6);

    assertThat(check(log)).singleElement().asString().contains("number 7");
  }

  @Test
  void an_acknowledged_message_at_another_place_is_found() {
    history.effect("t/c");
    history.acknowledged(new Acknowledgement("message", "context", "m", 3));

    assertThat(check(numbered(LOG))).singleElement().asString().contains("was acknowledged");
  }

  @Test
  void a_reader_that_missed_an_event_is_found() {
    history.effect("t/c");
    var reading = history.read("reader", "context");
    without(1).forEach(event -> reading.frames().add(event.toString()));

    assertThat(check(numbered(LOG))).singleElement().asString().contains("reader received");
  }

  @Test
  void a_task_without_an_end_and_one_with_two_ends_are_found() {
    history.effect("t/c");
    assertThat(check(numbered(LOG.subList(0, 8))))
        .singleElement()
        .asString()
        .contains("did not end");
    assertThat(check(with("{'kind':'task-status','taskId':'t','status':'failed'}")))
        .singleElement()
        .asString()
        .contains("had ended before");
  }

  @Test
  void lost_text_is_found() {
    history.effect("t/c");

    assertThat(check(without(6))).singleElement().asString().contains("the text '1' ends as");
  }

  @Test
  void an_effect_that_is_missing_repeated_or_without_a_start_is_found() {
    assertThat(check(numbered(LOG))).singleElement().asString().contains("no effect belongs to");
    history.effect("t/c");
    history.effect("t/c");
    assertThat(check(numbered(LOG))).anyMatch(line -> line.contains("happened 2 times"));
    history.effect("t/d");
    assertThat(check(numbered(LOG))).anyMatch(line -> line.contains("not in the log"));
  }

  @Test
  void a_fork_that_differs_from_its_source_is_found() {
    history.effect("t/c");
    history.forked(new AcknowledgedFork("fork", "context"));
    var fork = new ArrayList<>(LOG.subList(0, 1));
    fork.add("{'kind':'message','messageId':'n'}");
    fork.add("{'kind':'context-forked'}");
    history.log("fork", numbered(fork));

    assertThat(check(numbered(LOG))).singleElement().asString().contains("differs from its source");
  }

  @Test
  void a_fork_knows_nothing_of_the_later_effects_of_its_source() {
    history.forked(new AcknowledgedFork("fork", "context"));
    history.effect("t/c");
    var fork = new ArrayList<>(LOG.subList(0, 3));
    fork.add("{'kind':'context-forked'}");
    fork.add("{'kind':'task-status','taskId':'t','status':'canceled'}");
    history.created("context");
    history.deleting("context");
    history.log("fork", numbered(fork));

    assertThat(CampaignChecker.check(history)).isEmpty();
  }
}
