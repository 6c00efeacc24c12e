package dev.parley.mcp;

/// The real server as a process of ours.
final class EverythingStdioTest extends EverythingTest {

  @Override
  McpServer server() {
    return Peers.everything();
  }
}
