package dev.parley.mcp;

import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.jackson3.JacksonMcpJsonMapper;
import io.modelcontextprotocol.spec.McpClientTransport;
import java.net.URI;
import java.util.Optional;
import java.util.function.Supplier;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// A connection to a server, not yet opened, and what the server last wrote to its standard error.
record Wire(McpClientTransport transport, Supplier<String> lastLines) {

  /// How much a server may say at once.
  static final int MESSAGE_BYTES_MAX = 16 << 20;

  private static final int DEPTH_MAX = 200;
  private static final int NUMBER_MAX = 1_000;

  /// Reads and writes what goes over a connection. Numbers keep every digit.
  static final McpJsonMapper JSON =
      new JacksonMcpJsonMapper(
          JsonMapper.builder(
                  JsonFactory.builder()
                      .streamReadConstraints(
                          StreamReadConstraints.builder()
                              .maxNestingDepth(DEPTH_MAX)
                              .maxNumberLength(NUMBER_MAX)
                              .build())
                      .build())
              .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
              .build());

  /// Starts a process.
  static Wire to(McpServer.Stdio process, String name, McpServers.Parts parts) {
    var transport = new StdioTransport(process, parts.children(), name, parts.pace().end());
    return new Wire(transport, transport::lastLines);
  }

  /// Talks to a server elsewhere, with the token that there is at the time of a request, if any.
  static Wire to(McpServer.Http server, Supplier<Optional<String>> bearer) {
    return new Wire(new HttpTransport(server, bearer), () -> "");
  }

  /// The scheme, host and port of an address.
  static URI origin(URI url) {
    return URI.create(url.getScheme() + "://" + url.getRawAuthority());
  }
}
