package dev.parley.mcp;

/// Tests the real server as a child process.
final class EverythingStdioTest extends EverythingTest {

  @Override
  McpServer server() {
    return Peers.everything();
  }
}
