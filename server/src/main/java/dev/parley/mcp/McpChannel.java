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

/// A transport to a server, not yet opened, and the last lines of its standard error.
record McpChannel(McpClientTransport transport, Supplier<String> lastLines) {

  /// The maximum size of a message.
  static final int MESSAGE_BYTES_MAX = 16 << 20;

  private static final int DEPTH_MAX = 200;
  private static final int NUMBER_MAX = 1_000;

  /// Reads and writes messages. Numbers keep every digit.
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

  /// A transport to a process, which is started when it is opened.
  static McpChannel of(
      McpServer.StdioEndpoint process,
      String name,
      McpServers.McpServersDependencies mcpServersDependencies) {
    var transport =
        new StdioTransport(
            process,
            mcpServersDependencies.children(),
            name,
            mcpServersDependencies.timeouts().shutdown());
    return new McpChannel(transport, transport::lastLines);
  }

  /// A transport to an HTTP server; `bearer` supplies the current token for each request, if there
  /// is one.
  static McpChannel of(McpServer.HttpEndpoint server, Supplier<Optional<String>> bearer) {
    return new McpChannel(new HttpTransport(server, bearer), () -> "");
  }

  /// The scheme, host and port of an address.
  static URI origin(URI url) {
    return URI.create(url.getScheme() + "://" + url.getRawAuthority());
  }
}
