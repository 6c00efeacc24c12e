package dev.parley.app;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.concurrent.Callable;
import org.sqlite.util.LibraryLoaderUtil;
import picocli.CommandLine.Command;

/// `parley warm-up`: runs a server and some tasks, so that the JVM can cache classes and profiles.
///
/// If `org.sqlite.lib.path` is set, also unpacks SQLite's library there. SQLite's driver loads it from
/// there; if it is missing or unusable, each start unpacks it into the folder for temporary files.
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {

  /// Enough for profiles of the code that handles requests and tasks.
  private static final int ROUNDS = 20;

  private static final AgentTypeId AGENT = new AgentTypeId("agent-code");

  private final Terminal terminal;
  private boolean completed = true;

  WarmUpCommand(Terminal terminal) {
    // Without an environment, the offline model answers.
    this.terminal = terminal.withoutEnvironment();
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    unpackLibrary();
    var data = Files.createTempDirectory("parley-warm-up");
    try {
      var options = new ServeOptions();
      options.port = 0;
      options.data = data;
      for (var start = 0; start < 2; start++) {
        // The second start reads the files of the first one, and recovers its open task.
        new ServerRunner(terminal, options).run(this::use);
      }
      return completed ? 0 : CommandExit.FAILED;
    } finally {
      remove(data);
    }
  }

  private void use(LocalServer server) throws InterruptedException {
    try (var client = new ParleyClient(server.url())) {
      var context = client.createContext(NewContext.UNTITLED).contextId();
      try (var stream = client.stream(context, Position.START, StreamFilter.ALL)) {
        var _ = stream.next();
        for (var round = 0; round < ROUNDS; round++) {
          ask(client, context, NewMessage.text("count to 20"));
          ask(client, context, NewMessage.text("say hello").to(AGENT));
          ask(client, context, NewMessage.text("calculate 1+1").to(AGENT));
        }
      }
      var _ = client.snapshot(context);
      var _ = client.contexts(null, 1);
      var waiting = client.createContext(NewContext.UNTITLED).contextId();
      var _ = client.send(waiting, NewMessage.text("ask me what").to(AGENT));
    }
  }

  private void ask(ParleyClient client, ContextId context, NewMessage message)
      throws InterruptedException {
    try (var answer = client.sendAndStream(context, message)) {
      completed &= answer.forEach(_ -> {}).filter(TaskState.COMPLETED::equals).isPresent();
    }
  }

  private static void unpackLibrary() throws IOException {
    var folder = System.getProperty("org.sqlite.lib.path");
    if (folder == null) {
      return;
    }
    var name = LibraryLoaderUtil.getNativeLibName();
    var resource = LibraryLoaderUtil.getNativeLibResourcePath() + "/" + name;
    try (var library = LibraryLoaderUtil.class.getResourceAsStream(resource)) {
      if (library != null) {
        var unpacked = Path.of(folder, name + ".next");
        Files.copy(library, unpacked, StandardCopyOption.REPLACE_EXISTING);
        Files.move(unpacked, Path.of(folder, name), StandardCopyOption.ATOMIC_MOVE);
      }
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
