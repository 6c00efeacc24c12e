package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// A site with an agent elsewhere, called `peer`, and somebody who talks to it.
final class RemoteAgentTestBed implements AutoCloseable {

  private static final AtomicInteger NUMBER = new AtomicInteger();

  final TestServer site;

  RemoteAgentTestBed(Path folder, String yaml) {
    site = TestServer.durable(folder, TestServer.Wish.USUAL, yaml);
  }

  /// A configuration whose only agent is at `url`, which may say `more` of it.
  static String peer(String url, String more) {
    return "agents: [{id: peer, type: a2a, url: \"" + url + "\"" + more + "}]\n";
  }

  static ContextId context() {
    return new ContextId("c" + NUMBER.incrementAndGet());
  }

  /// Says something to an agent in a context, which is made if need be, and returns the task.
  String say(ContextId context, String agent, String text) {
    site.post("/api/contexts", Json.object().put("contextId", context.value()).toString());
    var body = Json.object().put("content", text).put("agentId", agent).toString();
    var answer = site.post("/api/contexts/" + context + "/messages", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    return Json.mapper().readTree(answer.body()).path("taskId").asString();
  }

  /// The same, and waits for the answer.
  String ask(ContextId context, String text) throws InterruptedException {
    return answer(context, say(context, "peer", text));
  }

  String answer(ContextId context, String task) throws InterruptedException {
    var end = end(context, task);
    assertThat(end).as("%s", entries(context)).isInstanceOf(TaskComplete.class);
    return ((TaskComplete) end).content();
  }

  /// Why a task failed.
  String failure(ContextId context, String task) throws InterruptedException {
    assertThat(end(context, task)).isInstanceOf(TaskStatus.class);
    return entries(context).stream()
        .filter(event -> event instanceof ErrorReported)
        .map(event -> ((ErrorReported) event).message())
        .collect(Collectors.joining());
  }

  Event end(ContextId context, String task) throws InterruptedException {
    return await(
        context,
        entry ->
            entry.taskId() != null
                && entry.taskId().value().equals(task)
                && (entry.event() instanceof TaskComplete
                    || (entry.event() instanceof TaskStatus status
                        && status.status().terminal()
                        && status.status() != TaskState.COMPLETED)));
  }

  Event await(ContextId context, Predicate<Entry> wanted) throws InterruptedException {
    return ModelInstructions.await(site.log, context, wanted).event();
  }

  /// Waits until the agents have said this, in all.
  void awaitText(ContextId context, String text) throws InterruptedException {
    await(context, _ -> text(context).equals(text));
  }

  /// Waits for a question that is not among the first `before`.
  InputRequired question(ContextId context, int before) throws InterruptedException {
    await(context, _ -> questions(context).size() > before);
    return questions(context).get(before);
  }

  private List<InputRequired> questions(ContextId context) {
    return entries(context).stream()
        .filter(event -> event instanceof InputRequired)
        .map(event -> (InputRequired) event)
        .toList();
  }

  /// Waits until a task waits for somebody.
  void awaitWaiting(ContextId context, String task) throws InterruptedException {
    await(
        context,
        entry ->
            entry.taskId() != null
                && entry.taskId().value().equals(task)
                && entry.event() instanceof TaskStatus status
                && status.status().waiting());
  }

  void give(ContextId context, InputRequired question, JsonNode value) {
    var body = Json.object();
    body.set("value", value);
    var path = "/api/contexts/" + context + "/inputs/" + question.inputId();
    var answer = site.post(path, body.toString());
    assertThat(answer.statusCode()).as(answer.body()).isLessThan(300);
  }

  void cancel(ContextId context, String task) {
    var answer = site.post("/api/contexts/" + context + "/tasks/" + task + "/cancel", "{}");
    assertThat(answer.statusCode()).as(answer.body()).isLessThan(300);
  }

  JsonNode json(String path) {
    return Json.mapper().readTree(site.get(path).body());
  }

  List<Event> entries(ContextId context) {
    return site.log.read(context, Position.START, 10_000).stream().map(Entry::event).toList();
  }

  /// All deltas, joined.
  String text(ContextId context) {
    return entries(context).stream()
        .map(event -> event instanceof ContentDelta delta ? delta.delta() : "")
        .collect(Collectors.joining());
  }

  /// All blocks that were ended.
  List<ContentComplete> blocks(ContextId context) {
    return entries(context).stream()
        .filter(event -> event instanceof ContentComplete)
        .map(event -> (ContentComplete) event)
        .toList();
  }

  /// What checkpoints say of the agent elsewhere under this name.
  List<String> noted(ContextId context, String name) {
    return entries(context).stream()
        .filter(event -> event instanceof InternalCheckpoint)
        .map(event -> ((InternalCheckpoint) event).state())
        .map(state -> state == null ? "" : state.path("a2a").path(name).asString(""))
        .filter(found -> !found.isEmpty())
        .toList();
  }

  @Override
  public void close() {
    site.close();
  }
}
