package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Webhooks of A2A tasks are told everything once, in order, also if they or the server are away for a while.
class PushTest {

  static final String CONFIG =
      """
      agents: [{id: kit, type: conformance}]
      a2a: {privateWebhooks: true}
      """;

  /// A sender waits longer than this for a reply, and for new events.
  static final Duration PAUSE_MAX = Duration.ofSeconds(2);

  @TempDir Path folder;
  @AutoClose final TestWebhook hook = new TestWebhook();
  private final ManualTime time = new ManualTime();

  private TestServer open() {
    return TestServer.durable(folder, CONFIG, time, new SystemThreads());
  }

  /// Moves time to the ends of the pauses after refused posts to the webhook `w1`.
  static void endPauses(ManualTime time, int pauses) {
    for (var i = 0; i < pauses; i++) {
      time.advanceToWait("push w1", PAUSE_MAX);
    }
  }

  static JsonNode call(TestServer testServer, String version, String method, ObjectNode params) {
    var request = Json.object().put("jsonrpc", "2.0").put("id", 1).put("method", method);
    request.set("params", params);
    var reply = testServer.post("/a2a/kit", request.toString(), "A2A-Version", version);
    return Json.mapper().readTree(reply.body());
  }

  static ObjectNode send(String messageId, String text) {
    var params = Json.object();
    var message = params.putObject("message");
    message.put("messageId", messageId).put("role", "ROLE_USER");
    message.putArray("parts").addObject().put("text", text);
    return params;
  }

  static ObjectNode sendWithHook(TestWebhook testWebhook, String messageId) {
    var params = send(messageId, "hi");
    var push =
        params
            .putObject("configuration")
            .put("returnImmediately", true)
            .putObject("taskPushNotificationConfig")
            .put("id", "w1")
            .put("url", testWebhook.url())
            .put("token", "t-1");
    push.putObject("authentication").put("scheme", "Bearer").put("credentials", "secret-1");
    return params;
  }

  @Test
  void tellsEverythingInOrder() throws Exception {
    try (var testServer = open()) {
      call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-stream-artifact-chunked-1"));
      var calls = hook.untilEnd();
      assertThat(calls.getFirst().body().has("task")).isTrue();
      assertThat(calls)
          .allSatisfy(
              one -> {
                assertThat(one.token()).isEqualTo("t-1");
                assertThat(one.authorization()).isEqualTo("Bearer secret-1");
                assertThat(one.type()).isEqualTo("application/a2a+json");
              });
      assertThat(calls.stream().map(TestWebhook.WebhookDelivery::id)).doesNotHaveDuplicates();
      var text = new StringBuilder();
      for (var one : calls) {
        one.body()
            .path("artifactUpdate")
            .path("artifact")
            .path("parts")
            .forEach(part -> text.append(part.path("text").asString("")));
      }
      assertThat(text.toString()).isEqualTo("chunk-1 chunk-2");
      assertThat(calls.getLast().body().at("/statusUpdate/status/state").asString())
          .isEqualTo("TASK_STATE_COMPLETED");
    }
  }

  @Test
  void triesAgainUntilTheWebhookTakesIt() throws Exception {
    hook.refusals.set(3);
    try (var testServer = open()) {
      call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1"));
      endPauses(time, 3);
      var calls = hook.untilEnd();
      assertThat(hook.refused.get()).isEqualTo(3);
      assertThat(calls.getFirst().body().has("task")).isTrue();
      assertThat(calls.stream().map(TestWebhook.WebhookDelivery::id)).doesNotHaveDuplicates();
    }
  }

  @Test
  void goesOnAfterARestart() throws Exception {
    hook.refusals.set(Integer.MAX_VALUE);
    try (var testServer = open()) {
      call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1"));
    }
    hook.refusals.set(0);
    try (var testServer = open()) {
      assertThat(testServer.url).isNotNull();
      var calls = hook.untilEnd();
      assertThat(calls.getFirst().body().has("task")).isTrue();
      assertThat(calls.getFirst().authorization()).isEqualTo("Bearer secret-1");
    }
  }

  /// With a webhook that has no id.
  static ObjectNode sendWithNameless(TestWebhook testWebhook, String messageId, String task) {
    var params = sendWithHook(testWebhook, messageId);
    params.withObject("configuration").withObject("taskPushNotificationConfig").remove("id");
    if (!task.isEmpty()) {
      params.withObject("message").put("taskId", task);
    }
    return params;
  }

  static String taskOf(JsonNode reply) {
    return reply.at("/result/task/id").asString();
  }

  static JsonNode configs(TestServer testServer, String task) {
    var params = Json.object().put("taskId", task);
    return call(testServer, "1.0", "ListTaskPushNotificationConfigs", params).at("/result/configs");
  }

  /// A task whose webhook takes nothing at first: once it knows all, what was to be posted before was posted, too.
  static void expectNothingButANewTask(
      TestServer testServer, TestWebhook testWebhook, ManualTime time) throws InterruptedException {
    testWebhook.seen.clear();
    testWebhook.calls.clear();
    testWebhook.refusals.set(2);
    var task =
        taskOf(
            call(
                testServer,
                "1.0",
                "SendMessage",
                sendWithHook(testWebhook, "tck-complete-task-fence")));
    endPauses(time, 2);
    testWebhook.untilEnd();
    // One that was on its way when all was cleared may still have come first.
    var late = testWebhook.seen.element().contains(task) ? 0 : 1;
    assertThat(testWebhook.seen.stream().skip(late))
        .isNotEmpty()
        .allSatisfy(body -> assertThat(body).contains(task));
  }

  @Test
  void tellsOnceOfAMessageThatIsSentAgain() throws Exception {
    try (var testServer = open()) {
      var params = sendWithNameless(hook, "tck-complete-task-1", "");
      var task = taskOf(call(testServer, "1.0", "SendMessage", params));
      assertThat(taskOf(call(testServer, "1.0", "SendMessage", params))).isEqualTo(task);
      assertThat(hook.untilEnd().stream().map(TestWebhook.WebhookDelivery::id))
          .doesNotHaveDuplicates();
      assertThat(taskOf(call(testServer, "1.0", "SendMessage", params))).isEqualTo(task);
      var configs = configs(testServer, task);
      assertThat(configs.size()).isEqualTo(1);
      assertThat(configs.at("/0/id").asString()).isEqualTo(task);
      expectNothingButANewTask(testServer, hook, time);
    }
  }

  @Test
  void tellsOnceIfAFollowUpNamesTheWebhookAgain() throws Exception {
    try (var testServer = open()) {
      var first = sendWithNameless(hook, "tck-input-required-1", "");
      var task = taskOf(call(testServer, "1.0", "SendMessage", first));
      var calls = new ArrayList<>(hook.until("INPUT_REQUIRED"));
      var sent =
          call(
              testServer,
              "1.0",
              "SendMessage",
              sendWithNameless(hook, "tck-complete-task-2", task));
      assertThat(taskOf(sent)).isEqualTo(task);
      calls.addAll(hook.untilEnd());
      assertThat(calls.stream().map(TestWebhook.WebhookDelivery::id)).doesNotHaveDuplicates();
      assertThat(configs(testServer, task).size()).isEqualTo(1);
      expectNothingButANewTask(testServer, hook, time);
    }
  }

  @Test
  void goesOnElsewhereIfTheTargetChanges() throws Exception {
    try (var testServer = open()) {
      var first = sendWithNameless(hook, "tck-input-required-1", "");
      var task = taskOf(call(testServer, "1.0", "SendMessage", first));
      var before = hook.until("INPUT_REQUIRED");
      var moved = Json.object().put("taskId", task).put("url", hook.url()).put("token", "t-2");
      call(testServer, "1.0", "CreateTaskPushNotificationConfig", moved);
      var second = send("tck-complete-task-2", "go on");
      second.withObject("message").put("taskId", task);
      call(testServer, "1.0", "SendMessage", second);
      var after = hook.untilEnd();
      assertThat(after).allSatisfy(one -> assertThat(one.token()).isEqualTo("t-2"));
      // The last one may not have been answered yet when the target changed, and is then told
      // again.
      var known =
          before.subList(0, before.size() - 1).stream()
              .map(TestWebhook.WebhookDelivery::id)
              .toList();
      assertThat(after.stream().map(TestWebhook.WebhookDelivery::id))
          .doesNotHaveDuplicates()
          .doesNotContainAnyElementsOf(known);
      assertThat(configs(testServer, task).size()).isEqualTo(1);
    }
  }

  @Test
  void tellsAWebhookOfAFollowUpOnlyWhatFollows() throws Exception {
    try (var testServer = open()) {
      var task = taskOf(call(testServer, "1.0", "SendMessage", send("tck-input-required-1", "hi")));
      var set = Json.object().put("taskId", task).put("id", "w0").put("url", hook.url());
      call(testServer, "1.0", "CreateTaskPushNotificationConfig", set);
      call(testServer, "1.0", "SendMessage", sendWithNameless(hook, "tck-complete-task-2", task));
      var calls = hook.untilEnd();
      assertThat(calls).noneMatch(one -> one.body().has("task"));
    }
  }

  @Test
  void stopsWhenTheWebhookIsDeleted() throws Exception {
    hook.refusals.set(Integer.MAX_VALUE);
    try (var testServer = open()) {
      var params = sendWithNameless(hook, "tck-complete-task-1", "");
      var task = taskOf(call(testServer, "1.0", "SendMessage", params));
      awaitPost();
      var named = Json.object().put("taskId", task).put("id", task);
      call(testServer, "1.0", "DeleteTaskPushNotificationConfig", named);
      assertThat(configs(testServer, task).size()).isZero();
      expectNothingButANewTask(testServer, hook, time);
    }
  }

  @Test
  void stopsWhenTheContextIsDeleted() throws Exception {
    hook.refusals.set(Integer.MAX_VALUE);
    try (var testServer = open()) {
      var sent =
          call(testServer, "1.0", "SendMessage", sendWithNameless(hook, "tck-complete-task-1", ""));
      awaitPost();
      var context = sent.at("/result/task/contextId").asString();
      var deleted = testServer.send(testServer.request("/api/contexts/" + context).DELETE());
      assertThat(deleted.statusCode()).isEqualTo(204);
      expectNothingButANewTask(testServer, hook, time);
    }
  }

  private void awaitPost() throws InterruptedException {
    assertThat(hook.answers.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void tellsThoseOfZeroThreeTheWholeTask() throws Exception {
    try (var testServer = open()) {
      var params = send("tck-input-required-1", "hi");
      params.withObject("message").put("kind", "message").put("role", "user");
      var task =
          call(testServer, "0.3", "message/send", params).path("result").path("id").asString();
      var set = Json.object().put("taskId", task);
      set.putObject("pushNotificationConfig").put("url", hook.url());
      var kept = call(testServer, "0.3", "tasks/pushNotificationConfig/set", set);
      assertThat(kept.at("/result/pushNotificationConfig/id").asString()).isNotEmpty();
      var answer = send("tck-complete-task-2", "go on");
      answer.withObject("message").put("kind", "message").put("role", "user").put("taskId", task);
      call(testServer, "0.3", "message/send", answer);
      var calls = hook.until("\"state\":\"completed\"");
      assertThat(calls.stream().map(one -> one.body().at("/status/state").asString()))
          .doesNotHaveDuplicates();
      var last = calls.getLast();
      assertThat(last.type()).isEqualTo("application/json");
      assertThat(last.body().path("kind").asString()).isEqualTo("task");
      assertThat(last.body().path("id").asString()).isEqualTo(task);
    }
  }

  @Test
  void keepsListsAndForgetsWebhooks() {
    try (var testServer = open()) {
      var sent = call(testServer, "1.0", "SendMessage", send("tck-input-required-1", "hi"));
      var task = sent.at("/result/task/id").asString();
      var config = Json.object().put("taskId", task).put("id", "a").put("url", hook.url());
      assertThat(
              call(testServer, "1.0", "CreateTaskPushNotificationConfig", config)
                  .at("/result/url")
                  .asString())
          .isEqualTo(hook.url());
      var named = Json.object().put("taskId", task).put("id", "a");
      assertThat(
              call(testServer, "1.0", "GetTaskPushNotificationConfig", named)
                  .at("/result/id")
                  .asString())
          .isEqualTo("a");
      var all = Json.object().put("taskId", task);
      assertThat(
              call(testServer, "1.0", "ListTaskPushNotificationConfigs", all)
                  .at("/result/configs")
                  .size())
          .isEqualTo(1);
      assertThat(call(testServer, "1.0", "DeleteTaskPushNotificationConfig", named).has("error"))
          .isFalse();
      assertThat(
              call(testServer, "1.0", "GetTaskPushNotificationConfig", named)
                  .at("/error/code")
                  .asInt())
          .isEqualTo(-32001);
    }
  }

  @Test
  void postsToNoPrivateAddressUnlessAllowed() {
    var config = "agents: [{id: kit, type: conformance}]\n";
    try (var testServer = TestServer.durable(folder, config, time, new SystemThreads())) {
      var reply = call(testServer, "1.0", "SendMessage", sendWithHook(hook, "tck-complete-task-1"));
      assertThat(reply.at("/error/code").asInt()).isEqualTo(-32602);
      assertThat(reply.at("/error/message").asString()).contains("private");
      assertThat(hook.calls).isEmpty();
    }
  }
}
