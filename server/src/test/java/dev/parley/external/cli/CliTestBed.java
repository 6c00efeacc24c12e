package dev.parley.external.cli;

import dev.parley.agent.ConversationMemory;
import dev.parley.agent.ToolPolicy;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventLog;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Answerer;
import dev.parley.task.LogHistory;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.process.ManagedProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/// A command-line agent on a log, and the home folder of its program.
final class CliTestBed implements AutoCloseable {

  final Path home;
  final TaskTestBed world;
  private final ManagedProcesses managedProcesses;

  CliTestBed(EventLog log, Path folder, CliSettings settings) {
    this.home = folder.resolve("home");
    this.managedProcesses =
        new ManagedProcesses(folder.resolve("children"), () -> UUID.randomUUID().toString());
    var conversationMemory =
        new ConversationMemory(log, new LogHistory(log), TaskLimits.DEFAULT.loop());
    var agent =
        new CliAgent(
            settings,
            new CliAgent.CliAgentDependencies(
                managedProcesses, log, conversationMemory, Duration.ofHours(1)));
    var work = folder.resolve("work");
    try {
      Files.createDirectories(home);
      Files.createDirectories(work);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.world = TaskTestBed.with(log, agent, work, TaskLimits.DEFAULT);
  }

  /// The script that behaves like Claude Code.
  static CliSettings scripted(Path folder) {
    try {
      var script = Path.of(CliTestBed.class.getResource("/cli/claude.sh").toURI());
      return CliSettings.of(
          CliProgram.CLAUDE,
          List.of("/bin/sh", script.toString()),
          Map.of("PATH", "/usr/bin:/bin", "HOME", folder.resolve("home").toString()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  static CliTestBed scripted(EventLog log, Path folder) {
    return new CliTestBed(log, folder, scripted(folder));
  }

  static CliTestBed scripted(Path folder, ToolPolicy toolPolicy) {
    return new CliTestBed(TaskTestBed.newLog(), folder, scripted(folder).with(toolPolicy));
  }

  TaskId say(String text) {
    return world.submit(text).taskId();
  }

  /// Sends a message and returns the answer.
  String ask(String text) throws InterruptedException {
    return answer(say(text));
  }

  String answer(TaskId task) throws InterruptedException {
    var state = world.awaitEnd(task);
    if (state != TaskState.COMPLETED) {
      throw new AssertionError(state + ": " + world.reason(task));
    }
    return all(task, TaskComplete.class).getFirst().content();
  }

  InputRequired question(TaskId task) throws InterruptedException {
    return (InputRequired)
        world.await(e -> task.equals(e.taskId()) && e.event() instanceof InputRequired).event();
  }

  void answer(InputRequired question, JsonNode value) {
    world
        .tasks()
        .answer(
            TaskTestBed.CONTEXT,
            question.inputId(),
            value,
            Answerer.trusted("local"),
            AppendGuard.none());
  }

  <E extends Event> List<E> all(TaskId task, Class<E> type) {
    return world.events(task, type);
  }

  /// The events of the tasks below this one.
  List<Entry> below(TaskId task) {
    return world.entries().stream()
        .filter(e -> e.origin() != null && task.equals(e.origin().parentTaskId()))
        .toList();
  }

  String read(String name) {
    try {
      return Files.readString(home.resolve(name)).strip();
    } catch (IOException missing) {
      return "";
    }
  }

  @Override
  public void close() {
    world.close();
    managedProcesses.close();
  }
}
