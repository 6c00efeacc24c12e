/// The A2A API: serves each agent type as an A2A agent, in versions 0.3 and 1.0, over JSON-RPC and
/// HTTP+JSON.
@NullMarked
package dev.parley.api.a2a;

import org.jspecify.annotations.NullMarked;
