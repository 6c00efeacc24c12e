package dev.parley.bench;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A server on Node, for comparison: a script of this module and npm packages.
final class NodePeer {

  /// The servers, with the folder of their packages in the build's output.
  enum NodeProgram {
    ROOM("Socket.IO", "socket.io", "socket-io-server.js", List.of("socket.io@4.8")),
    RELAY(
        "A row per token on Node",
        "socket.io",
        "relay-server.js",
        List.of("socket.io@4.8", "better-sqlite3@12")),
    STATIC_FILE("A static file on Node", "static", "static-server.js", List.of()),
    LANGGRAPH(
        "LangGraph",
        "langgraph",
        "langgraph-server.mjs",
        // The latest versions that fit to each other.
        List.of(
            "@langchain/langgraph-cli@1.1.17",
            "@langchain/langgraph-api@1.1.17",
            "@langchain/langgraph@1.2.9",
            "@langchain/langgraph-checkpoint@1.0.4",
            "@langchain/langgraph-sdk@1.8.9",
            "@langchain/core@1.2.13",
            "typescript@5",
            "zod@4"));

    private final String title;
    private final String folder;
    private final String script;

    @SuppressWarnings("ImmutableEnumChecker") // Made by List.of.
    private final List<String> packages;

    NodeProgram(String title, String folder, String script, List<String> packages) {
      this.title = title;
      this.folder = folder;
      this.script = script;
      this.packages = packages;
    }
  }

  private final Path folder;
  private final NodeProgram nodeProgram;

  private NodePeer(Path folder, NodeProgram nodeProgram) {
    this.folder = folder;
    this.nodeProgram = nodeProgram;
  }

  /// Installs the npm packages, once. If Node is missing or npm fails, reports this and returns
  /// empty.
  static Optional<NodePeer> install(NodeProgram nodeProgram, BenchmarkReport benchmarkReport)
      throws IOException, InterruptedException {
    var folder = RepositoryRoot.target().resolve(nodeProgram.folder);
    Files.createDirectories(folder);
    if (run(folder, List.of("node", "--version")) != 0) {
      benchmarkReport.note(nodeProgram.title + " left out: there is no node on the PATH");
      return Optional.empty();
    }
    var missing =
        nodeProgram.packages.stream()
            .filter(
                wanted -> !Files.isDirectory(folder.resolve("node_modules").resolve(name(wanted))))
            .toList();
    if (!missing.isEmpty() && run(folder, install(nodeProgram.packages)) != 0) {
      benchmarkReport.note(
          nodeProgram.title + " left out: npm could not install " + String.join(", ", missing));
      return Optional.empty();
    }
    try (var script = NodePeer.class.getResourceAsStream(nodeProgram.script)) {
      if (script == null) {
        throw new IllegalStateException(nodeProgram.script + " is missing");
      }
      Files.copy(script, folder.resolve(nodeProgram.script), StandardCopyOption.REPLACE_EXISTING);
    }
    return Optional.of(new NodePeer(folder, nodeProgram));
  }

  private static String name(String wanted) {
    return wanted.substring(0, wanted.lastIndexOf('@'));
  }

  /// Packages without a binary are compiled, with the installed headers of Node if there are any.
  private static List<String> install(List<String> packages) {
    var command =
        new ArrayList<>(
            List.of("npm", "install", "--no-audit", "--no-fund", "--silent", "--legacy-peer-deps"));
    command.addAll(packages);
    if (Files.isDirectory(Path.of("/usr/include/node"))) {
      command.add("--nodedir=/usr");
    }
    return command;
  }

  BenchmarkProcess start(String... arguments) throws IOException {
    var command = new ArrayList<>(List.of("node", "--expose-gc", nodeProgram.script));
    command.addAll(List.of(arguments));
    return BenchmarkProcess.start(command, folder);
  }

  private static int run(Path folder, List<String> command) throws InterruptedException {
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
