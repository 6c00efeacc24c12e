/// The MCP server: agents as tools, contexts as resources, over streamable HTTP.
@NullMarked
package dev.parley.api.mcp;

import org.jspecify.annotations.NullMarked;
