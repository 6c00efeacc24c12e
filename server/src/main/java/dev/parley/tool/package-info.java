/// The interface of tools that agents can call, and the built-in tools.
@NullMarked
package dev.parley.tool;

import org.jspecify.annotations.NullMarked;
