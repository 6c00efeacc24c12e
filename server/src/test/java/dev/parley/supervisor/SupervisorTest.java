package dev.parley.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.LimitedAppendLog;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.LogInvariants;
import dev.parley.task.Submission;
import dev.parley.task.TaskTestBed;
import dev.parley.task.WhenBusy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
class SupervisorTest {

  @TempDir Path folder;

  private final SupervisorTestBed supervisorTestBed = new SupervisorTestBed();

  @Test
  void a_message_that_steers_is_heard_by_the_agent_that_works() throws Exception {
    var begun = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var supervisorTestBed =
        new SupervisorTestBed()
            .decision(SupervisorTestBed.decision("single", "a"))
            .answering(
                "a",
                _ -> {
                  begun.countDown();
                  go.await();
                  return "I am a";
                });
    try (var taskTestBed = supervisorTestBed.world(TaskTestBed.newLog(), folder, true)) {
      var task = taskTestBed.submit("write code").taskId();
      begun.await();
      var steered = taskTestBed.submit("make it short", WhenBusy.STEER);
      go.countDown();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(steered.taskId()).isEqualTo(task);
      assertThat(supervisorTestBed.asked.get("a")).hasSize(2);
      assertThat(
              ((PromptPart.PromptMessage)
                      supervisorTestBed.asked.get("a").getLast().parts().getLast())
                  .text())
          .isEqualTo("make it short");
      assertThat(supervisorTestBed.asked.get("decider")).hasSize(1);
    }
  }

  // CHAT-55
  @Test
  void the_model_receives_the_agents_and_decides_by_schema() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("single", "b"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      var prompt = supervisorTestBed.asked.get("decider").getFirst();
      assertThat(prompt.instructions())
          .contains("a (Alice): Writes code and programs.")
          .contains("b (Bob): Analyses data and tables.")
          .contains("data_analysis");
      assertThat(prompt.answerSchema().at("/properties/strategy/enum").toString())
          .contains("single", "parallel", "sequential", "delegate");
      assertThat(prompt.answerSchema().at("/properties/agents/items/properties/agentId/enum"))
          .hasSize(3);
      var routing = decided(taskTestBed, task);
      assertThat(routing.path("strategy").asString()).isEqualTo("single");
      assertThat(routing.path("agents").get(0).path("agentId").asString()).isEqualTo("b");
      assertThat(routing.path("agents").get(0).path("agentName").asString()).isEqualTo("Bob");
      assertThat(routing.path("agents").get(0).path("taskDescription").asString())
          .isEqualTo("part 1");
      assertThat(routing.path("agents").get(0).path("priority").asInt()).isOne();
      assertThat(routing.path("reasoning").asString()).isEqualTo("because");
      assertThat(routing.path("confidence").asDouble()).isEqualTo(0.75);
      assertThat(routing.has("fallback")).isFalse();
    }
  }

  // CHAT-56
  @Test
  void the_decision_is_written_before_any_agent_acts_on_it() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("parallel", "a", "b"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      var events = taskTestBed.events(task);
      var told = events.stream().filter(TaskStatus.class::isInstance).map(TaskStatus.class::cast);
      var status =
          told.filter(s -> s.metadata() != null && s.metadata().has("routing")).findFirst();
      assertThat(status.orElseThrow().message()).isEqualTo("parallel: Alice, Bob");
      assertThat(events.indexOf(status.orElseThrow()))
          .isLessThan(events.indexOf(taskTestBed.events(task, SubtaskCreated.class).getFirst()));
    }
  }

  // CHAT-58
  @ParameterizedTest
  @ValueSource(strings = {"single", "delegate"})
  void one_agent_acts_and_its_text_is_the_answer(String strategy) throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision(strategy, "b", "a"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      assertThat(taskTestBed.answer(task).content()).isEqualTo("I am b");
      assertThat(taskTestBed.events(task, SubtaskCreated.class)).hasSize(1);
      assertThat(supervisorTestBed.asked.get("a")).isEmpty();
    }
  }

  // CHAT-59
  @Test
  void agents_work_in_parallel_and_their_results_are_combined_into_one_answer() throws Exception {
    var together = new CyclicBarrier(2);
    for (var name : List.of("a", "b")) {
      supervisorTestBed.answering(name, _ -> meet(together, name));
    }
    supervisorTestBed.decision(SupervisorTestBed.decision("parallel", "a", "b"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      assertThat(taskTestBed.answer(task).content()).isEqualTo("combined");
      var combining = said(supervisorTestBed.asked.get("decider").getLast());
      assertThat(combining)
          .contains("what now?", "## Alice\n\na was there", "## Bob\n\nb was there");
    }
  }

  @Test
  void without_a_model_the_results_stand_side_by_side() throws Exception {
    try (var taskTestBed = byRules()) {
      var task = say(taskTestBed, "delegate the work from one to ten to a and b");

      assertThat(taskTestBed.answer(task).content())
          .isEqualTo("## Alice\n\nI am a\n\n## Bob\n\nI am b");
      assertThat(taskTestBed.events(task, SubtaskCreated.class))
          .extracting(SubtaskCreated::prompt)
          .containsExactly("the work from one to ten", "the work from one to ten");
    }
  }

  // CHAT-60
  @Test
  void each_agent_of_a_sequence_receives_the_previous_results_in_order() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("sequential", "c", "a", "b"));
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "what now?");

      var children = taskTestBed.events(task, SubtaskCreated.class);
      assertThat(children.stream().map(s -> s.agentId().value())).containsExactly("c", "a", "b");
      var third = taskTestBed.events(children.get(2).subtaskId(), TaskCreated.class).getFirst();
      var previous = third.metadata().path("previousResults");
      assertThat(previous.valueStream().map(r -> r.path("agentId").asString()))
          .containsExactly("c", "a");
      assertThat(previous.valueStream().map(r -> r.path("output").asString()))
          .containsExactly("I am c", "I am a");
      assertThat(said(supervisorTestBed.asked.get("b").getFirst()))
          .containsSubsequence("I am c", "I am a", "part 3");
      assertThat(said(supervisorTestBed.asked.get("c").getFirst())).doesNotContain("I am");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "I would ask Alice.",
        "{\"strategy\":",
        "[]",
        "{\"strategy\":\"single\",\"agents\":[],\"reasoning\":\"\",\"confidence\":1}",
        "{\"strategy\":\"single\",\"agents\":[{\"agentId\":\"mallory\"}]}",
        "{\"strategy\":\"all\",\"agents\":[{\"agentId\":\"a\"}]}",
        "{\"strategy\":\"single\",\"agents\":\"a\"}",
        "{}"
      })
  // CHAT-61
  void an_unusable_decision_is_replaced_by_rules_and_reported(String decision) throws Exception {
    supervisorTestBed.decision(decision);
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "hm");

      assertThat(taskTestBed.answer(task).content()).isEqualTo("I am c");
      assertThat(decided(taskTestBed, task).path("fallback").asString()).contains("cannot be used");
      assertThat(taskTestBed.events(task, TaskStatus.class))
          .anyMatch(s -> s.message() != null && s.message().contains("(by rules: "));
    }
  }

  // CHAT-61
  @Test
  void a_model_that_fails_does_not_prevent_agents_from_acting() throws Exception {
    supervisorTestBed.answering("decider", _ -> null);
    try (var taskTestBed = deciding()) {
      var task = say(taskTestBed, "analyses of tables, please");

      assertThat(taskTestBed.answer(task).content()).isEqualTo("I am b");
      assertThat(decided(taskTestBed, task).path("fallback").asString())
          .isEqualTo("the model gave no decision: decider cannot");
    }
  }

  // CHAT-62
  @Test
  void when_one_of_several_fails_the_others_finish_and_the_answer_reports_it() throws Exception {
    supervisorTestBed.answering("b", _ -> null);
    try (var taskTestBed = byRules()) {
      var task = say(taskTestBed, "delegate the work to a, b and c");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content())
          .contains("I am a", "## Bob\n\nThis did not work (failed): b cannot", "I am c");
      assertThat(results(taskTestBed, task).valueStream().map(r -> r.path("status").asString()))
          .containsExactlyInAnyOrder("success", "failure", "success");
    }
  }

  // CHAT-62
  @Test
  void when_all_fail_the_task_fails_with_their_reason() throws Exception {
    supervisorTestBed.answering("a", _ -> null).answering("b", _ -> null);
    try (var taskTestBed = byRules()) {
      var task = say(taskTestBed, "delegate the work to a and b");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.events(task, ErrorReported.class).getFirst().message())
          .endsWith(" cannot");
    }
  }

  // CHAT-63
  @Test
  void a_failure_ends_a_sequence_and_is_reported() throws Exception {
    supervisorTestBed.answering("b", _ -> null);
    try (var taskTestBed = byRules()) {
      var task = say(taskTestBed, "delegate the work to a, b and c", options(null, "sequential"));

      assertThat(supervisorTestBed.asked.get("c")).isEmpty();
      assertThat(taskTestBed.events(task, SubtaskComplete.class))
          .extracting(SubtaskComplete::status)
          .containsExactly(TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED);
      assertThat(taskTestBed.answer(task).content()).contains("a previous task did not succeed");
    }
  }

  // CHAT-64
  @Test
  void each_agent_works_on_its_own_subtask_of_the_supervisor_task() throws Exception {
    try (var taskTestBed = byRules()) {
      var task = say(taskTestBed, "delegate the work to a and b");

      var children = taskTestBed.events(task, SubtaskCreated.class);
      assertThat(children).extracting(SubtaskCreated::subtaskId).doesNotHaveDuplicates().hasSize(2);
      LogInvariants.check(taskTestBed.log(), TaskTestBed.CONTEXT);
    }
  }

  @Test
  void rules_choose_by_the_type_of_the_task_and_by_words() throws Exception {
    try (var taskTestBed = byRules()) {
      var typed = say(taskTestBed, "whatever", options("code_debug", null));
      assertThat(taskTestBed.answer(typed).content()).isEqualTo("I am a");

      var worded = say(taskTestBed, "Do you know jokes?");
      assertThat(taskTestBed.answer(worded).content()).isEqualTo("I am c");
      assertThat(decided(taskTestBed, worded).has("fallback")).isFalse();
    }
  }

  @Test
  void a_strategy_that_is_asked_for_goes_before_the_one_that_the_model_chose() throws Exception {
    supervisorTestBed.decision(SupervisorTestBed.decision("parallel", "a", "b"));
    try (var taskTestBed = deciding()) {
      var one = say(taskTestBed, "what now?", options(null, "single"));
      assertThat(taskTestBed.events(one, SubtaskCreated.class)).hasSize(1);
      assertThat(supervisorTestBed.asked.get("decider").getFirst().instructions())
          .contains("The strategy must be single");

      var chain = say(taskTestBed, "what now?", options(null, "sequential"));
      assertThat(decided(taskTestBed, chain).path("strategy").asString()).isEqualTo("sequential");
      assertThat(taskTestBed.events(chain, SubtaskCreated.class)).hasSize(2);
    }
  }

  @Test
  void the_end_tells_what_each_agent_came_to_and_what_it_took() throws Exception {
    try (var taskTestBed = byRules()) {
      var task = say(taskTestBed, "delegate the work to a and b");

      var result =
          results(taskTestBed, task)
              .valueStream()
              .filter(r -> r.path("agentId").asString().equals("a"))
              .findFirst()
              .orElseThrow();
      assertThat(result.path("status").asString()).isEqualTo("success");
      assertThat(result.path("output").asString()).isEqualTo("I am a");
      assertThat(result.path("usage").path("inputTokens").asInt()).isEqualTo(10);
      assertThat(result.path("modelUsage").has("model-a")).isTrue();
      assertThat(result.path("costUsd").decimalValue()).isEqualByComparingTo("0.25");
      assertThat(result.path("duration").isNumber()).isTrue();
      assertThat(result.path("numTurns").asInt()).isOne();
      assertThat(result.path("taskId").asString()).isNotEmpty();
    }
  }

  @Test
  void a_restart_in_the_middle_keeps_the_decision() throws Exception {
    var log = TaskTestBed.newLog();
    var freezing = new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Gone("frozen"));
    supervisorTestBed.decision(SupervisorTestBed.decision("sequential", "a", "b"));
    TaskId task;
    try (var taskTestBed =
        supervisorTestBed.world(
            freezing,
            folder,
            true,
            place -> {
              if (place.equals("routed")) {
                freezing.allow(0);
              }
            })) {
      task = taskTestBed.submit("what now?").taskId();
      freezing.awaitRejection();
    }
    supervisorTestBed.decision(SupervisorTestBed.decision("single", "c"));
    try (var taskTestBed = supervisorTestBed.world(log, folder, true)) {
      taskTestBed.tasks().recover();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(decided(taskTestBed, task).path("strategy").asString()).isEqualTo("sequential");
      assertThat(supervisorTestBed.asked.get("c")).isEmpty();
      LogInvariants.check(log, TaskTestBed.CONTEXT);
    }
  }

  private TaskTestBed deciding() {
    return supervisorTestBed.world(TaskTestBed.newLog(), folder, true);
  }

  private TaskTestBed byRules() {
    return supervisorTestBed.world(TaskTestBed.newLog(), folder, false);
  }

  private static TaskId say(TaskTestBed taskTestBed, String text) throws InterruptedException {
    return say(taskTestBed, text, Submission.TaskOptions.NONE);
  }

  private static TaskId say(
      TaskTestBed taskTestBed, String text, Submission.TaskOptions taskOptions)
      throws InterruptedException {
    var task = taskTestBed.tasks().submit(TaskTestBed.submission(text, taskOptions)).taskId();
    taskTestBed.awaitEnd(task);
    return task;
  }

  private static Submission.TaskOptions options(@Nullable String type, @Nullable String strategy) {
    return new Submission.TaskOptions(null, type, null, null, null, strategy, null);
  }

  private static ObjectNode decided(TaskTestBed taskTestBed, TaskId task) {
    return taskTestBed.events(task, TaskStatus.class).stream()
        .filter(s -> s.metadata() != null && s.metadata().has("routing"))
        .map(s -> SupervisorTestBed.routing(s.metadata()))
        .findFirst()
        .orElseThrow();
  }

  private static JsonNode results(TaskTestBed taskTestBed, TaskId task) {
    var end = taskTestBed.events(task, TaskComplete.class).getFirst();
    assertThat(end.metadata().has("routing")).isTrue();
    return end.metadata().path("results");
  }

  private static String said(Prompt prompt) {
    return prompt.parts().stream()
        .map(promptPart -> ((PromptPart.PromptMessage) promptPart).text())
        .collect(Collectors.joining("\n"));
  }

  private static String meet(CyclicBarrier barrier, String name) throws InterruptedException {
    try {
      var _ = barrier.await(20, TimeUnit.SECONDS);
      return name + " was there";
    } catch (java.util.concurrent.BrokenBarrierException
        | java.util.concurrent.TimeoutException alone) {
      return name + " was alone";
    }
  }
}
