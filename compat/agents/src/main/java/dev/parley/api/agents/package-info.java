/// The agents API: launched agents, their numbered messages, and the streams of the proxy routes.
@NullMarked
package dev.parley.api.agents;

import org.jspecify.annotations.NullMarked;
