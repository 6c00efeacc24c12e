package dev.parley.cli;

import dev.parley.agent.Memory;
import dev.parley.agent.Policy;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Answerer;
import dev.parley.task.Limits;
import dev.parley.task.LogHistory;
import dev.parley.task.World;
import dev.parley.tool.process.Children;
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
final class CliWorld implements AutoCloseable {

  final Path home;
  final World world;
  private final Children children;

  CliWorld(EventLog log, Path folder, CliSettings settings) {
    this.home = folder.resolve("home");
    this.children = new Children(folder.resolve("children"), () -> UUID.randomUUID().toString());
    var memory = new Memory(log, new LogHistory(log), Limits.DEFAULT.loop());
    var agent =
        new CliAgent(settings, new CliAgent.Parts(children, log, memory, Duration.ofHours(1)));
    var work = folder.resolve("work");
    try {
      Files.createDirectories(home);
      Files.createDirectories(work);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.world = World.with(log, agent, work, Limits.DEFAULT);
  }

  /// The script that behaves like Claude Code.
  static CliSettings scripted(Path folder) {
    try {
      var script = Path.of(CliWorld.class.getResource("/cli/claude.sh").toURI());
      return CliSettings.of(
          Program.CLAUDE,
          List.of("/bin/sh", script.toString()),
          Map.of("PATH", "/usr/bin:/bin", "HOME", folder.resolve("home").toString()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  static CliWorld scripted(EventLog log, Path folder) {
    return new CliWorld(log, folder, scripted(folder));
  }

  static CliWorld scripted(Path folder, Policy policy) {
    return new CliWorld(World.newLog(), folder, scripted(folder).with(policy));
  }

  TaskId say(String text) {
    return world.say(text).taskId();
  }

  /// Sends a message and returns the answer.
  String ask(String text) throws InterruptedException {
    return answer(say(text));
  }

  String answer(TaskId task) throws InterruptedException {
    var state = world.end(task);
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
        .answer(World.CONTEXT, question.inputId(), value, Answerer.trusted("local"), Guard.none());
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
    children.close();
  }
}
