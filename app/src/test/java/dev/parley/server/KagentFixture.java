package dev.parley.server;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/// Tests of the sessions API, each with a server of its own that keeps its data.
abstract class KagentFixture {

  @TempDir Path folder;
  TestServer testServer;

  KagentTestClient open(TestServer.Wish wish) {
    testServer = TestServer.durable(folder, wish);
    return new KagentTestClient(testServer);
  }

  KagentTestClient open() {
    return open(TestServer.Wish.USUAL);
  }

  @AfterEach
  void close() {
    testServer.close();
  }
}
