package dev.parley.bench;

import dev.parley.http.Metrics;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.projection.Views;
import dev.parley.projection.ViewsRuntime;
import dev.parley.protocol.AgentTypeId;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.server.Config;
import dev.parley.server.Extensions;
import dev.parley.server.Server;
import dev.parley.task.Agent;
import dev.parley.task.AgentDirectory;
import dev.parley.task.ContextHistory;
import dev.parley.task.FailPoint;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskSettings;
import dev.parley.task.TaskSources;
import dev.parley.task.Tasks;
import dev.parley.task.Workspaces;
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

/// A process with a real server and one context; the readers control when events are appended.
public final class FanoutServer {

  private final BenchmarkContext benchmarkContext;
  private int index;

  private FanoutServer(EventLog log) {
    this.benchmarkContext = BenchmarkContext.begin(log);
  }

  /// Serves from the folder in `arguments` until the process is ended.
  public static void main(String[] arguments) throws IOException {
    // Other threads would keep a broken process alive.
    Thread.setDefaultUncaughtExceptionHandler(
        (_, failed) -> {
          failed.printStackTrace();
          Runtime.getRuntime().halt(1);
        });
    Logger.getLogger("").setLevel(Level.WARNING);
    var folder = Path.of(arguments[0]);
    var log = ParleyAppender.open(folder, InstantSource.system());
    var config =
        Config.load(null, Config.ProcessEnvironment.ofProcess())
            .listeningOn("127.0.0.1", 0)
            .keepingDataIn(folder);
    var server =
        Server.start(config, Extensions.NONE, parts(folder, log), Server.ServerSources.real());
    var fanout = new FanoutServer(log);
    var path = "/api/contexts/" + fanout.benchmarkContext.context() + "/stream";
    var port = URI.create(server.url()).getPort();
    ServerControl.serve(port, path, fanout::emit, FanoutServer::memory);
  }

  private static Server.ServerDependencies parts(Path folder, EventLog log) {
    var threads = new SystemThreads();
    var time = new SystemTime(threads);
    var views =
        new Views(
            folder.resolve("views.db"), log, new ViewsRuntime(time, threads, FatalHandler.NONE));
    var contextHistory = ContextHistory.of(views);
    var nobody = new AgentTypeId("nobody");
    Agent idle =
        _ -> {
          throw new IllegalStateException("this server runs no tasks");
        };
    var agentDirectory = new AgentDirectory(Map.of(nobody, idle), nobody);
    var taskSettings =
        new TaskSettings(
            agentDirectory, new Workspaces(List.of(folder)), TaskLimits.DEFAULT, FailPoint.NONE);
    var taskSources = new TaskSources(time, threads, () -> UUID.randomUUID().toString());
    var tasks = new Tasks(log, contextHistory, taskSettings, taskSources);
    return new Server.ServerDependencies(
        log, views, tasks, new Metrics(), Server.ServerSources.real());
  }

  /// Appends events at once; the text of each event is its creation time.
  private void emit(int count) {
    var texts = new ArrayList<String>();
    for (var i = 0; i < count; i++) {
      texts.add(Long.toString(System.nanoTime()));
    }
    benchmarkContext.appendText(index, texts);
    index += count;
  }

  /// The used heap after a garbage collection.
  private static long memory() {
    for (var i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
