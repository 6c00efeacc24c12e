package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/// `parley warm-up`: runs a server and one task, so that the JVM can cache classes and profiles.
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {

  @Override
  public Integer call() throws IOException, InterruptedException {
    var data = Files.createTempDirectory("parley-warm-up");
    try {
      var options = new ServeOptions();
      options.port = 0;
      // Without an environment, the offline model answers.
      try (var server = LocalServer.start(options, data, Map.of());
          var client = new ParleyClient(server.url());
          var answer = client.ask("count to 20")) {
        var outcome = answer.forEach(_ -> {});
        return outcome.filter(TaskState.COMPLETED::equals).isPresent() ? 0 : CommandExit.FAILED;
      }
    } finally {
      remove(data);
    }
  }

  private static void remove(Path folder) throws IOException {
    try (var paths = Files.walk(folder)) {
      for (var path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
