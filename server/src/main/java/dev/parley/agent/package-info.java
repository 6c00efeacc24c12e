/// Kinds of agent: the loop that asks a model and runs its tools.
@NullMarked
package dev.parley.agent;

import org.jspecify.annotations.NullMarked;
