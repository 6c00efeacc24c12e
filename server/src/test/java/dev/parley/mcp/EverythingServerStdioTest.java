package dev.parley.mcp;

/// Tests the real server as a child process.
final class EverythingServerStdioTest extends EverythingServerTest {

  @Override
  McpServer server() {
    return McpTestServers.everything();
  }
}
