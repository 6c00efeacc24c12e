/// Connections to MCP servers, whose tools agents can call.
@NullMarked
package dev.parley.mcp;

import org.jspecify.annotations.NullMarked;
