/// For programs that run a server in their own process: an easy way to write agents.
@NullMarked
package dev.parley.embed;

import org.jspecify.annotations.NullMarked;
