package dev.parley.api.mcp;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ApiModule;
import dev.parley.http.ErrorFormat;
import dev.parley.http.Problem;
import dev.parley.protocol.Json;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// The MCP server: all its routes.
public final class McpApi implements ApiModule {

  private static final int SERVER_ERROR = -32000;

  @Override
  public ApiParts create(ApiDependencies parts) {
    var calls = new AgentCalls(parts);
    var methods = new McpMethods(parts, new McpResources(parts));
    return new ApiParts(
        new McpRoutes(parts, methods, calls).routes(),
        List.of(ErrorFormat.json(McpRoutes.PATH, McpApi::error)));
  }

  private static ObjectNode error(Problem problem) {
    var json = Json.object().put("jsonrpc", "2.0").putNull("id");
    json.putObject("error").put("code", SERVER_ERROR).put("message", problem.detail());
    return json;
  }
}
