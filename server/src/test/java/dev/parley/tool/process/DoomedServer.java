package dev.parley.tool.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/// A program that starts a child with a grandchild, prints their ids, and waits to be killed.
final class DoomedServer {

  private DoomedServer() {}

  public static void main(String[] arguments) throws Exception {
    var children = new Children(Path.of(arguments[0]), () -> "left");
    var words = List.of("sh", "-c", "(sleep 1000 & echo $!); echo $$; exec sleep 1000");
    var environment = Map.of("PATH", System.getenv("PATH"));
    var child =
        children.start(new Command(words, Path.of("/"), environment, Command.Wiring.LISTEN));
    var output = child.output();
    for (var b = output.read(); b >= 0; b = output.read()) {
      System.out.write(b);
      System.out.flush();
    }
    new CountDownLatch(1).await();
  }
}
