/// The supervisor: chooses the agents for a message, lets them work together, and combines their
/// results.
@NullMarked
package dev.parley.supervisor;

import org.jspecify.annotations.NullMarked;
