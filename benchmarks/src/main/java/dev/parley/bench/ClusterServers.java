package dev.parley.bench;

import dev.parley.bench.PostgresPeer.PeerDatabase;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/// Real servers that share a database. The first one is active, the others are standby servers.
final class ClusterServers implements AutoCloseable {

  private final TemporaryFolder temporaryFolder = TemporaryFolder.make();
  private final PeerDatabase database;
  private final Deque<BenchmarkServer> servers = new ArrayDeque<>();
  private int started;

  /// Starts `count` servers.
  ClusterServers(PeerDatabase database, int count) throws IOException {
    this.database = database;
    resize(count);
  }

  /// Starts more standby servers, or stops some.
  void resize(int count) throws IOException {
    while (servers.size() > count) {
      servers.removeLast().close();
    }
    while (servers.size() < count) {
      started++;
      servers.add(
          BenchmarkServer.start(
              temporaryFolder, "node" + started, List.of("--db", database.address())));
    }
  }

  /// Removes the active server, which the caller ends. The next one is about to take over.
  BenchmarkServer removeActive() {
    return servers.removeFirst();
  }

  BenchmarkServer active() {
    return servers.getFirst();
  }

  List<BenchmarkServer> standby() {
    return servers.stream().skip(1).toList();
  }

  /// The last server that was started.
  BenchmarkServer last() {
    return servers.getLast();
  }

  List<Integer> ports() {
    return servers.stream().map(BenchmarkServer::port).toList();
  }

  @Override
  public void close() throws IOException {
    // The standby servers first: they need not take over.
    resize(0);
    temporaryFolder.close();
  }
}
