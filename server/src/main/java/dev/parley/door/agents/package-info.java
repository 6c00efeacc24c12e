/// The agents door: launched agents, their numbered messages, and the stream that a proxy gives.
@NullMarked
package dev.parley.door.agents;

import org.jspecify.annotations.NullMarked;
