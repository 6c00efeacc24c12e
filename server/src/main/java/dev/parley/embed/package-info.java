/// For programs that run a server in their own process: a simple API for writing agents.
@NullMarked
package dev.parley.embed;

import org.jspecify.annotations.NullMarked;
