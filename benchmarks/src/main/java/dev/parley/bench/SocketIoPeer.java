package dev.parley.bench;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A Socket.IO server on Node, for comparison.
final class SocketIoPeer {

  /// A server on Node: its script, and its npm packages.
  enum SocketIoPeerKind {
    ROOM("socket-io-server.js", List.of("socket.io@4.8")),
    RELAY("relay-server.js", List.of("socket.io@4.8", "better-sqlite3@12"));

    private final String script;

    @SuppressWarnings("ImmutableEnumChecker") // Made by List.of.
    private final List<String> packages;

    SocketIoPeerKind(String script, List<String> packages) {
      this.script = script;
      this.packages = packages;
    }
  }

  private final Path folder;
  private final SocketIoPeerKind socketIoPeerKind;

  private SocketIoPeer(Path folder, SocketIoPeerKind socketIoPeerKind) {
    this.folder = folder;
    this.socketIoPeerKind = socketIoPeerKind;
  }

  /// Installs the npm packages, once. If Node is missing or npm fails, reports this and returns
  /// empty.
  static Optional<SocketIoPeer> install(
      SocketIoPeerKind socketIoPeerKind, BenchmarkReport benchmarkReport)
      throws IOException, InterruptedException {
    var folder = RepositoryRoot.target().resolve("socket.io");
    Files.createDirectories(folder);
    if (run(folder, "node", "--version") != 0) {
      benchmarkReport.note("Socket.IO left out: there is no node on the PATH");
      return Optional.empty();
    }
    for (var wanted : socketIoPeerKind.packages) {
      var name = wanted.substring(0, wanted.indexOf('@'));
      if (!Files.isDirectory(folder.resolve("node_modules").resolve(name))
          && run(folder, install(wanted)) != 0) {
        benchmarkReport.note("Node left out: npm could not install " + wanted);
        return Optional.empty();
      }
    }
    try (var script = SocketIoPeer.class.getResourceAsStream(socketIoPeerKind.script)) {
      if (script == null) {
        throw new IllegalStateException(socketIoPeerKind.script + " is missing");
      }
      Files.copy(
          script, folder.resolve(socketIoPeerKind.script), StandardCopyOption.REPLACE_EXISTING);
    }
    return Optional.of(new SocketIoPeer(folder, socketIoPeerKind));
  }

  /// Packages without a binary are compiled, with the installed headers of Node if there are any.
  private static String[] install(String wanted) {
    var command =
        new ArrayList<>(List.of("npm", "install", "--no-audit", "--no-fund", "--silent", wanted));
    if (Files.isDirectory(Path.of("/usr/include/node"))) {
      command.add("--nodedir=/usr");
    }
    return command.toArray(String[]::new);
  }

  BenchmarkProcess start(String... arguments) throws IOException {
    var command = new ArrayList<>(List.of("node", "--expose-gc", socketIoPeerKind.script));
    command.addAll(List.of(arguments));
    return BenchmarkProcess.start(command, folder);
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
