package dev.parley.tool.process;

import dev.parley.tool.process.ManagedProcesses.ProcessCommand;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/// A program that starts a child with a grandchild, prints their ids, and waits to be killed.
final class KilledServer {

  private KilledServer() {}

  public static void main(String[] arguments) throws Exception {
    var managedProcesses = new ManagedProcesses(Path.of(arguments[0]), () -> "left");
    var words = List.of("sh", "-c", "(sleep 1000 & echo $!); echo $$; exec sleep 1000");
    var environment = Map.of("PATH", System.getenv("PATH"));
    var managedProcess =
        managedProcesses.start(
            new ProcessCommand(
                words, Path.of("/"), environment, ProcessCommand.ProcessStreams.OUTPUT_ONLY));
    var output = managedProcess.output();
    for (var b = output.read(); b >= 0; b = output.read()) {
      System.out.write(b);
      System.out.flush();
    }
    new CountDownLatch(1).await();
  }
}
