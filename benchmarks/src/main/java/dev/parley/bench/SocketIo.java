package dev.parley.bench;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;

/// A Socket.IO server on Node, as the second system to fan out with.
final class SocketIo {

  private static final String SCRIPT = "socket-io-server.js";
  private static final String PACKAGE = "socket.io@4.8";

  private final Path folder;

  private SocketIo(Path folder) {
    this.folder = folder;
  }

  /// Gets Socket.IO from npm, once. Empty if there is no Node or it cannot be had, and says so.
  static Optional<SocketIo> install(Report report) throws IOException, InterruptedException {
    var folder = Home.target().resolve("socket.io");
    Files.createDirectories(folder);
    if (run(folder, "node", "--version") != 0) {
      report.note("Socket.IO left out: there is no node on the PATH");
      return Optional.empty();
    }
    if (!Files.isDirectory(folder.resolve("node_modules/socket.io"))
        && run(folder, "npm", "install", "--no-audit", "--no-fund", "--silent", PACKAGE) != 0) {
      report.note("Socket.IO left out: npm could not install it");
      return Optional.empty();
    }
    try (var script = SocketIo.class.getResourceAsStream(SCRIPT)) {
      if (script == null) {
        throw new IllegalStateException(SCRIPT + " is missing");
      }
      Files.copy(script, folder.resolve(SCRIPT), StandardCopyOption.REPLACE_EXISTING);
    }
    return Optional.of(new SocketIo(folder));
  }

  Child start() throws IOException {
    return Child.start(List.of("node", "--expose-gc", SCRIPT), folder);
  }

  private static int run(Path folder, String... command) throws InterruptedException {
    try {
      return new ProcessBuilder(command)
          .directory(folder.toFile())
          .redirectOutput(Redirect.DISCARD)
          .redirectError(Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException missing) {
      return -1;
    }
  }
}
