package dev.parley.server;

/// 0.3 over HTTP+JSON.
class RemoteAgentV03RestTest extends RemoteAgentContract {
  RemoteAgentV03RestTest() {
    super("a2a-03/serve.mjs", ", transport: rest", false);
  }
}
