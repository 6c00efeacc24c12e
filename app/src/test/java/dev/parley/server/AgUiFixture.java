package dev.parley.server;

import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tests of the AG-UI API. Those of a class share a server; each has a thread of its own.
@Timeout(60)
abstract class AgUiFixture {

  @TempDir static Path folder;
  static TestServer testServer;

  final String thread = "thread-" + UUID.randomUUID();
  AgUiTestClient app = app("agent-code");

  @BeforeAll
  static void open() {
    testServer = TestServer.open(folder);
  }

  @AfterAll
  static void close() {
    testServer.close();
  }

  final AgUiTestClient app(String agent) {
    return new AgUiTestClient(testServer, agent, thread);
  }
}
