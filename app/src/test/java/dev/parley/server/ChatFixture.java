package dev.parley.server;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tests of the chat API, each with a server of its own.
@Timeout(120)
abstract class ChatFixture {

  @TempDir Path folder;
  TestServer testServer;
  ChatTestClient chatTestClient;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder, TestServer.Wish.USUAL.heartbeat(Duration.ofMillis(50)));
    chatTestClient = new ChatTestClient(testServer);
  }

  @AfterEach
  void close() {
    testServer.close();
  }
}
