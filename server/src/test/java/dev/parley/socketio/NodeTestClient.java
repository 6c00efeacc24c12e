package dev.parley.socketio;

import static org.assertj.core.api.Assertions.fail;

import dev.parley.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/// A Node.js program in `peers`, by default in `peers/clients`, which reads commands and writes
/// results, one JSON object per line.
public final class NodeTestClient implements AutoCloseable {

  private static final int PATIENCE_SECONDS = 30;

  private final Process process;
  private final Writer in;
  private final LinkedBlockingQueue<JsonNode> facts = new LinkedBlockingQueue<>();

  public NodeTestClient(String script, String... arguments) throws IOException {
    var words = new ArrayList<>(List.of("node", script(script).toString()));
    words.addAll(List.of(arguments));
    process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    in = process.outputWriter();
    Thread.ofVirtual().start(() -> read(process.inputReader()));
  }

  private void read(BufferedReader lines) {
    try (lines) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        facts.add(Json.mapper().readTree(line));
      }
    } catch (IOException ended) {
      // The test is over.
    }
  }

  private static Path script(String name) {
    var given = System.getProperty("parley.peers");
    var peers = given == null ? above(Path.of("").toAbsolutePath()) : Path.of(given);
    var script = peers.resolve(name.contains("/") ? name : "clients/" + name);
    if (!Files.isDirectory(script.resolveSibling("node_modules"))) {
      fail("the peers are missing: ./check installs them, or npm ci beside %s", script);
    }
    return script;
  }

  private static Path above(Path folder) {
    return folder.getParent() == null || Files.isDirectory(folder.resolve("peers"))
        ? folder.resolve("peers")
        : above(folder.getParent());
  }

  /// Sends a command.
  public void send(String command) throws IOException {
    in.write(command + "\n");
    in.flush();
  }

  /// The next result.
  public JsonNode next() throws InterruptedException {
    var fact = facts.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (fact == null) {
      throw new AssertionError("nothing came from the peer");
    }
    return fact;
  }

  /// The next result of this kind; others are skipped.
  public JsonNode next(String kind) throws InterruptedException {
    return next(fact -> fact.path("is").asString().equals(kind));
  }

  /// The next result of each of these kinds, in any order.
  public Map<String, JsonNode> all(String... kinds) throws InterruptedException {
    var found = new HashMap<String, JsonNode>();
    while (!found.keySet().containsAll(List.of(kinds))) {
      var fact = next();
      found.putIfAbsent(fact.path("is").asString(), fact);
    }
    return found;
  }

  /// The next result that matches; others are skipped.
  public JsonNode next(Predicate<JsonNode> wanted) throws InterruptedException {
    var fact = next();
    while (!wanted.test(fact)) {
      fact = next();
    }
    return fact;
  }

  /// Kills the program.
  public void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
