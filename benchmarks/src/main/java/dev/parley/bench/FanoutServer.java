package dev.parley.bench;

import dev.parley.door.Metrics;
import dev.parley.log.EventLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.server.Config;
import dev.parley.server.Server;
import dev.parley.task.Agent;
import dev.parley.task.Agents;
import dev.parley.task.FailPoint;
import dev.parley.task.History;
import dev.parley.task.Limits;
import dev.parley.task.Sources;
import dev.parley.task.Tasks;
import dev.parley.task.Workspaces;
import dev.parley.view.Views;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.logging.Level;
import java.util.logging.Logger;

/// A process with a real server and one context, in which events happen when the readers say so.
public final class FanoutServer {

  private final Conversation conversation;
  private int index;

  private FanoutServer(EventLog log) {
    this.conversation = Conversation.begin(log);
  }

  /// Serves from the folder in `arguments` until the process is ended.
  public static void main(String[] arguments) throws IOException {
    // Other threads would keep a process alive that cannot go on.
    Thread.setDefaultUncaughtExceptionHandler(
        (_, failed) -> {
          failed.printStackTrace();
          Runtime.getRuntime().halt(1);
        });
    Logger.getLogger("").setLevel(Level.WARNING);
    var folder = Path.of(arguments[0]);
    var log = ParleyAppender.open(folder, InstantSource.system());
    var config =
        Config.load(null, Config.Surroundings.ofProcess())
            .listeningOn("127.0.0.1", 0)
            .keepingDataIn(folder);
    var server = Server.start(config, parts(folder, log), Server.Sources.real());
    var fanout = new FanoutServer(log);
    var path = "/api/contexts/" + fanout.conversation.context() + "/stream";
    var port = URI.create(server.url()).getPort();
    Control.serve(port, path, fanout::emit, FanoutServer::memory);
  }

  private static Server.Parts parts(Path folder, EventLog log) {
    var views = new Views(folder.resolve("views.db"), log);
    var history = History.of(views);
    var nobody = new AgentTypeId("nobody");
    Agent idle =
        _ -> {
          throw new IllegalStateException("nobody asks for work here");
        };
    var agents = new Agents(Map.of(nobody, idle), nobody);
    var setup =
        new Tasks.Setup(agents, new Workspaces(List.of(folder)), Limits.DEFAULT, FailPoint.NONE);
    var sources = new Sources(InstantSource.system(), () -> UUID.randomUUID().toString());
    var tasks = new Tasks(log, history, setup, sources);
    return new Server.Parts(log, views, tasks, new Metrics(), Server.Sources.real());
  }

  /// Appends as one decision; each event's text is the time at which it was made.
  private void emit(int count) {
    var texts = new ArrayList<String>();
    for (var i = 0; i < count; i++) {
      texts.add(Long.toString(System.nanoTime()));
    }
    conversation.say(index, texts);
    index += count;
  }

  /// What is in use after everything that is not was collected.
  private static long memory() {
    for (var i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
