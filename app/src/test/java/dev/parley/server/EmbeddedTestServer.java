package dev.parley.server;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.embed.CustomAgent;
import dev.parley.embed.Worker;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Answerer;
import dev.parley.task.TaskType;
import dev.parley.task.Tasks;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/// A server in this process with agents and tools of a test's own, and one context of it.
final class EmbeddedTestServer implements AutoCloseable {

  static final Worker ECHO = work -> work.sendText(work.prompt());

  final Tasks tasks;
  final Server server;
  final ParleyClient client;
  final ContextId context;

  EmbeddedTestServer(Config config, Extensions extensions) {
    var joined = config.withExtensions(extensions);
    var serverSources = Server.ServerSources.real();
    var serverDependencies = new ServerFactory(joined, serverSources, extensions).create();
    tasks = serverDependencies.tasks();
    server = Server.start(joined, extensions, serverDependencies, serverSources);
    client = new ParleyClient(URI.create(server.url()));
    context = client.createContext(NewContext.titled("test")).contextId();
  }

  TaskId say(NewMessage message) {
    return client.send(context, message).taskId();
  }

  void answer(InputId input, JsonNode value) {
    tasks.answer(context, input, value, Answerer.trusted("local"), AppendGuard.none());
  }

  /// Waits for this, and returns all until then.
  List<Entry> until(Predicate<Entry> wanted) throws InterruptedException {
    var entries = new ArrayList<Entry>();
    try (var stream = client.stream(context, Position.START, StreamFilter.ALL)) {
      for (var next = stream.next(); next.isPresent(); next = stream.next()) {
        entries.add(next.get());
        if (wanted.test(next.get())) {
          return entries;
        }
      }
    }
    throw new AssertionError("it did not come; there were " + entries);
  }

  List<Entry> untilEnd(TaskId task) throws InterruptedException {
    return until(entry -> task.equals(entry.taskId()) && terminal(entry.event()));
  }

  String answer(TaskId task) throws InterruptedException {
    var end = untilEnd(task).getLast().event();
    return end instanceof TaskComplete complete ? complete.content() : end.toString();
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }

  static Extensions with(Worker worker) {
    return TestServer.MODULES.with(
        CustomAgent.of("agent-own", "Knows about volcanoes", worker)
            .withName("Own")
            .withTaskTypes(TaskType.RESEARCH_DOCS));
  }

  static Config config(Path folder, AgentConfig... agents) {
    var processEnvironment = new Config.ProcessEnvironment(Map.of(), folder, folder);
    return Config.load(null, processEnvironment, TestServer.MODULES)
        .with(List.of(agents))
        .listeningOn("127.0.0.1", 0);
  }

  static boolean terminal(Event event) {
    return event instanceof TaskComplete
        || (event instanceof TaskStatus status
            && status.status().terminal()
            && status.status() != TaskState.COMPLETED);
  }

  static <E> List<E> all(List<Entry> entries, TaskId task, Class<E> type) {
    return entries.stream()
        .filter(entry -> task.equals(entry.taskId()))
        .map(Entry::event)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }
}
