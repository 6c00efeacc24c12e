/// Remote agents that speak Agent2Agent (A2A): negotiates version and transport, sends tasks, and
/// writes the remote agent's output as events of the local task.
@NullMarked
package dev.parley.external.a2a;

import org.jspecify.annotations.NullMarked;
