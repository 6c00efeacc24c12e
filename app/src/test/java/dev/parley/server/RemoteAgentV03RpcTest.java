package dev.parley.server;

/// 0.3 over JSON-RPC.
class RemoteAgentV03RpcTest extends RemoteAgentContract {
  RemoteAgentV03RpcTest() {
    super("a2a-03/serve.mjs", ", version: '0.3', transport: jsonrpc", true);
  }
}
