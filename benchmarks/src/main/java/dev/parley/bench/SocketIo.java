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
final class SocketIo {

  /// A server on Node: its script, and its npm packages.
  enum Kind {
    ROOM("socket-io-server.js", List.of("socket.io@4.8")),
    RELAY("relay-server.js", List.of("socket.io@4.8", "better-sqlite3@12"));

    private final String script;

    @SuppressWarnings("ImmutableEnumChecker") // Made by List.of.
    private final List<String> packages;

    Kind(String script, List<String> packages) {
      this.script = script;
      this.packages = packages;
    }
  }

  private final Path folder;
  private final Kind kind;

  private SocketIo(Path folder, Kind kind) {
    this.folder = folder;
    this.kind = kind;
  }

  /// Installs the npm packages, once. If Node is missing or npm fails, reports this and returns
  /// empty.
  static Optional<SocketIo> install(Kind kind, Report report)
      throws IOException, InterruptedException {
    var folder = Home.target().resolve("socket.io");
    Files.createDirectories(folder);
    if (run(folder, "node", "--version") != 0) {
      report.note("Socket.IO left out: there is no node on the PATH");
      return Optional.empty();
    }
    for (var wanted : kind.packages) {
      var name = wanted.substring(0, wanted.indexOf('@'));
      if (!Files.isDirectory(folder.resolve("node_modules").resolve(name))
          && run(folder, install(wanted)) != 0) {
        report.note("Node left out: npm could not install " + wanted);
        return Optional.empty();
      }
    }
    try (var script = SocketIo.class.getResourceAsStream(kind.script)) {
      if (script == null) {
        throw new IllegalStateException(kind.script + " is missing");
      }
      Files.copy(script, folder.resolve(kind.script), StandardCopyOption.REPLACE_EXISTING);
    }
    return Optional.of(new SocketIo(folder, kind));
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

  Child start(String... arguments) throws IOException {
    var command = new ArrayList<>(List.of("node", "--expose-gc", kind.script));
    command.addAll(List.of(arguments));
    return Child.start(command, folder);
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
