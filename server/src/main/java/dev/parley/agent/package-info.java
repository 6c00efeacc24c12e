/// The model loop: an agent that calls a model and runs its tools, with history, approvals,
/// sub-agents and tool policies.
@NullMarked
package dev.parley.agent;

import org.jspecify.annotations.NullMarked;
