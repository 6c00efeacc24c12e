package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MetadataFactsTest {

  private static final TaskId TASK = new TaskId("t1");

  @Test
  void the_keys_are_those_of_stored_logs() {
    var steering = Json.object();
    MessageFacts.putTaskId(steering, TASK);
    MessageFacts.putSteering(steering, List.of(TASK));
    var question = Json.object();
    QuestionFacts.putToolCallId(question, new ToolCallId("c1"));
    QuestionFacts.putPurpose(question, QuestionPurpose.SIGN_IN);
    QuestionFacts.putToolCall(
        question, new QuestionFacts.AskedCall("c1", "shell", Json.object().put("a", 1)));

    assertThat(steering).hasToString("{\"taskId\":\"t1\",\"steer\":true,\"heardBy\":[\"t1\"]}");
    assertThat(question)
        .hasToString(
            "{\"toolCallId\":\"c1\",\"purpose\":\"sign-in\",\"toolCall\":{\"toolCallId\":\"c1\","
                + "\"toolName\":\"shell\",\"arguments\":{\"a\":1}}}");
    assertThat(StatusFacts.ofWaitingForSubtasks(List.of(TASK)))
        .hasToString("{\"blockedBy\":\"t1\",\"subtaskIds\":[\"t1\"]}");
    assertThat(StatusFacts.ofNeverStarted("canceled"))
        .hasToString("{\"reason\":\"canceled\",\"started\":false}");
    assertThat(new StatusFacts.Retry(2, 5, 412, "model_error", "overloaded", "m").toMetadata())
        .hasToString(
            "{\"retry\":{\"attempt\":2,\"maxAttempts\":5,\"delayMs\":412,\"code\":\"model_error\","
                + "\"reason\":\"overloaded\",\"model\":\"m\"}}");
  }

  @Test
  void missing_metadata_contain_no_facts() {
    var status = StatusFacts.of(null);
    var message = MessageFacts.of(null);

    assertThat(status.recovered() || status.handedBack() || status.blockedByUser()).isFalse();
    assertThat(status.started()).isTrue();
    assertThat(status.routing()).isEmpty();
    assertThat(message.steers()).isFalse();
    assertThat(message.heardBy()).isEmpty();
    assertThat(message.summary()).isEmpty();
  }

  @Test
  void a_value_of_another_type_is_missing() {
    var metadata = Json.object().put("taskId", "not an id").put("routing", "single");
    metadata.put("heardBy", 7).put("purpose", "unknown");

    assertThat(MessageFacts.of(metadata).taskId()).isEmpty();
    assertThat(MessageFacts.of(metadata).heardBy()).isEmpty();
    assertThat(StatusFacts.of(metadata).routing()).isEmpty();
    assertThat(QuestionFacts.of(metadata).purpose()).isEmpty();
  }

  @Test
  void a_summary_survives_being_stored() {
    var summary = new MessageFacts.Summary(12, 5, 20L);

    assertThat(MessageFacts.of(summary.toMetadata()).summary()).contains(summary);
  }
}
