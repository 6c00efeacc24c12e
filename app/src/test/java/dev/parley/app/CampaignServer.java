package dev.parley.app;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// One of the servers of a campaign: a place where a process of Parley runs, is killed and starts
/// again. Others reach it through a network that can fail, and it reaches PostgreSQL through another
/// one.
///
/// For the thread of the campaign, except its address.
final class CampaignServer implements AutoCloseable {

  private static final Duration REPLY_MAX = Duration.ofSeconds(2);

  private final Path data;
  private final Path configuration;
  private final int port = PostgresPair.freePort();
  private final FaultyProxy network = new FaultyProxy(port);
  private final List<FaultyProxy> databaseNetworks;
  private @Nullable RealProcess process;
  private boolean suspended;

  CampaignServer(Path data, Path configuration, List<Integer> databasePorts) {
    this.data = data;
    this.configuration = configuration;
    this.databaseNetworks = databasePorts.stream().map(FaultyProxy::new).toList();
  }

  /// Where clients reach it.
  URI url() {
    return URI.create("http://127.0.0.1:" + port);
  }

  /// The network between the other servers and this one.
  FaultyProxy network() {
    return network;
  }

  /// The networks between this server and each server of PostgreSQL.
  List<FaultyProxy> databaseNetworks() {
    return databaseNetworks;
  }

  /// Starts a process, unless one runs. Does not wait until it is ready.
  void start() {
    var running = process;
    if (running != null && running.alive()) {
      return;
    }
    var hosts =
        databaseNetworks.stream()
            .map(proxy -> "127.0.0.1:" + proxy.port())
            .collect(Collectors.joining(","));
    process =
        RealProcess.run(
            "serve",
            "--port",
            Integer.toString(port),
            "--data",
            data.toString(),
            "--config",
            configuration.toString(),
            "--db",
            "postgresql://postgres@" + hosts + "/postgres",
            "--node-address",
            nodeAddress());
  }

  /// True if a process runs and is not suspended.
  boolean running() {
    var running = process;
    return running != null && running.alive() && !suspended;
  }

  /// The address at which the other servers reach it.
  String nodeAddress() {
    return "http://127.0.0.1:" + network.port();
  }

  /// What the process says it is: `ready` if it is active, `standby`, or nothing.
  String readiness(HttpClient http) throws InterruptedException {
    if (!running()) {
      return "";
    }
    var request = HttpRequest.newBuilder(url().resolve("/readyz")).timeout(REPLY_MAX).build();
    try {
      var reply = http.send(request, BodyHandlers.ofString());
      return reply.statusCode() == 200
          ? Json.mapper().readTree(reply.body()).get("status").asString()
          : "";
    } catch (IOException unreachable) {
      return "";
    }
  }

  void kill() throws InterruptedException {
    suspended = false;
    var running = process;
    if (running != null) {
      running.kill();
    }
  }

  /// Sends SIGTERM and waits for the end. Returns the exit code.
  int terminate() throws InterruptedException {
    var running = process;
    return running == null ? 0 : running.terminate();
  }

  void suspend() throws InterruptedException {
    suspended = true;
    signal("STOP");
  }

  void resume() throws InterruptedException {
    signal("CONT");
    suspended = false;
  }

  private void signal(String name) throws InterruptedException {
    var running = process;
    if (running == null) {
      return;
    }
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(running.pid())).start().waitFor();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /// The networks of this server work again.
  void deliver() {
    network.deliver();
    databaseNetworks.forEach(FaultyProxy::deliver);
  }

  /// The lines that the present process has printed.
  List<String> lines() {
    var running = process;
    if (running == null) {
      return List.of();
    }
    var lines = new ArrayList<>(running.out());
    lines.addAll(running.err());
    return lines;
  }

  @Override
  public void close() {
    var running = process;
    if (running != null) {
      running.close();
    }
    network.close();
    databaseNetworks.forEach(FaultyProxy::close);
  }
}
