package dev.parley.server;

/// 1.0 over JSON-RPC.
class RemoteAgentV1RpcTest extends RemoteAgentContract {
  RemoteAgentV1RpcTest() {
    super("a2a/serve.mjs", ", transport: jsonrpc", true);
  }
}
