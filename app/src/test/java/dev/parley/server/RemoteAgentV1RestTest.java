package dev.parley.server;

/// 1.0 over HTTP+JSON.
class RemoteAgentV1RestTest extends RemoteAgentContract {
  RemoteAgentV1RestTest() {
    super("a2a/serve.mjs", ", transport: rest", true);
  }
}
